# SPDX-License-Identifier: Apache-2.0
"""Word2vec of gensim on sentences of made-up words, each of which tends to be followed by the next."""
import random

from gensim.models import Word2Vec

random.seed(0)
WORDS = [f"word{number}" for number in range(20000)]


def sentence():
    first = random.randrange(len(WORDS))
    return [WORDS[(first + place) % len(WORDS)] for place in range(10)]


sentences = [sentence() for _ in range(20000)]
model = Word2Vec(sentences, vector_size=100, min_count=1, epochs=1, workers=1, seed=0)
print("gensim_words:", len(model.wv), "words")
