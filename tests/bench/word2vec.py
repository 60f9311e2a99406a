# SPDX-License-Identifier: Apache-2.0
"""word2vec.py: gensim's training of vectors of 100 numbers, by skip-grams, which calls saxpy and sdot some ten million times a
second; as many epochs as each line of its input says. Answers each with the nanoseconds that one took, of the processor's
time: {"cpu": mean}. Reading the text and making the vocabulary are not measured."""
import random
import sys
import time

from gensim.models import Word2Vec

WORDS, VOCABULARY, SENTENCE = 10000, 5000, 20

chance = random.Random(1)
names = [f"w{i}" for i in range(VOCABULARY)]
text = chance.choices(names, [1 / (i + 5) for i in range(VOCABULARY)], k=WORDS)  # by Zipf's law
sentences = [text[i:i + SENTENCE] for i in range(0, WORDS, SENTENCE)]
model = Word2Vec(vector_size=100, workers=1, sg=1, min_count=1, seed=1)
model.build_vocab(sentences)

for line in sys.stdin:
    cpu = time.process_time_ns()
    model.train(sentences, total_examples=len(sentences), epochs=int(line))
    print(f'{{"cpu": {(time.process_time_ns() - cpu) / int(line)}}}', flush=True)
