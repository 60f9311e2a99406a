# SPDX-License-Identifier: Apache-2.0
"""Programs of many processes, as users write them: python_families.py KIND. Each process keeps a block of a size that is its
own, and notes in TRUTH_FILE who it is, whose child, and how large its block is. What it prints depends on no timing."""
import concurrent.futures
import ctypes
import json
import multiprocessing
import multiprocessing.shared_memory
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t


def keep(role, size):
    """A block that nobody frees, and the note of it. Once a process."""
    if getattr(keep, "pid", None) == os.getpid():
        return os.getpid()
    keep.pid = os.getpid()
    size = size + os.getpid() % 10007
    libc.memset(libc.malloc(ctypes.c_size_t(size)), 1, size)
    note = json.dumps({"role": role, "pid": os.getpid(), "ppid": os.getppid(), "size": size}) + "\n"
    file = os.open(os.environ["TRUTH_FILE"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, note.encode())
    os.close(file)
    return os.getpid()


def noisy(stop):
    """Threads that allocate while their process forks."""
    while not stop.is_set():
        for size in range(100, 3000, 50):
            libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size))))


def work(item):
    keep("worker", 1000000)
    return sum(range(item * 1000)) + len(str([item] * item))


def started(size):
    keep("started", size)


# concurrent.futures and multiprocessing.Pool

def futures(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, context, initializer=started, initargs=(1100000,)) as pool:
        print(method, sum(pool.map(work, range(60), chunksize=3)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print("threads", sum(pool.map(work, range(60))))


def pool_of(method):
    """A pool whose workers end and are replaced after three tasks; a manager; shared memory; a queue."""
    context = multiprocessing.get_context(method)
    with context.Pool(2, maxtasksperchild=3) as pool:
        found = sum(pool.imap_unordered(work, range(18)))
        pool.close()
        pool.join()
    print(method, found)  # a worker that replaces one just then would inherit the line, and print it too
    with context.Manager() as manager:
        shared = manager.dict()
        children = [context.Process(target=fill, args=(shared, i)) for i in range(2)]
        for child in children:
            child.start()
        for child in children:
            child.join()
        print(sorted(shared.items()), [child.exitcode for child in children])
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 16)
    child = context.Process(target=write_to, args=(memory.name,))
    child.start()
    child.join()
    print(bytes(memory.buf[:5]), child.exitcode)
    memory.close()
    memory.unlink()


def fill(shared, i):
    keep("filler", 1200000)
    shared[i] = i * i


def write_to(name):
    keep("writer", 1300000)
    memory = multiprocessing.shared_memory.SharedMemory(name)
    memory.buf[:5] = b"hello"
    memory.close()


def broken(_):
    """A worker that is killed: the pool says so, and a new one goes on."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        try:
            pool.submit(end_by, signal.SIGKILL).result()
        except concurrent.futures.process.BrokenProcessPool:
            print("broken")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        print(pool.submit(work, 3).result())


def end_by(number):
    keep("killed", 1400000)
    os.kill(os.getpid(), number)
    time.sleep(60)


# subprocess: shells, pipelines, programs that start programs, a daemon

LEAF = """import sys; sys.path.insert(0, sys.argv[1])
import python_families; python_families.keep('leaf', 1500000); print(sys.argv[2])"""


def tree(depth):
    depth = int(depth or 0)
    here = os.path.dirname(os.path.abspath(__file__))
    if depth < 3:
        done = subprocess.run([sys.executable, __file__, "tree", str(depth + 1)], stdout=subprocess.PIPE, check=True,
                              start_new_session=depth == 1, close_fds=True)
        print(depth, done.stdout.decode().replace("\n", "|"))
        return
    for shell in ('"$0" -c "$1" "$2" one | cat | tr a-z A-Z',
                  '("$0" -c "$1" "$2" two; "$0" -c "$1" "$2" three) 2>&1 | sort',
                  'for i in 1 2; do "$0" -c "$1" "$2" $i & wait $!; done',
                  'exec "$0" -c "$1" "$2" four'):
        print(subprocess.run(["sh", "-c", shell, sys.executable, LEAF, here], stdout=subprocess.PIPE,
                             check=True).stdout.decode().split())
    reading, writing = os.pipe()
    if not os.fork():  # a daemon: forked twice, of a session of its own, no descriptor of its parent's but the pipe
        os.setsid()
        if not os.fork():
            os.closerange(0, writing)
            os.closerange(writing + 1, 256)
            keep("daemon", 1600000)
            os.write(writing, b"up")
        os._exit(0)
    os.close(writing)
    os.wait()
    print(os.read(reading, 10), os.read(reading, 10))


# A server that forks before it accepts, with workers that end after some requests, are killed, and told to end

def serve(server, index):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    keep("server", 1700000 + 100000 * index)
    for _ in range(5):
        connection, _ = server.accept()
        with connection:
            asked = connection.recv(100)
            text = [asked.decode()] * 1000
            connection.sendall("".join(text)[:len(asked)].upper().encode())
    os._exit(0)


def ask(address, text, meanwhile):
    """`meanwhile` is called again and again: the workers may all be about to end, and none of them accepts."""
    with socket.create_connection(address) as connection:
        connection.sendall(text)
        while not select.select([connection], [], [], 0.1)[0]:
            meanwhile()
        return connection.recv(100)


def end(worker):
    """Told again until it has ended: Python hears of a signal that comes just before accept() when that returns."""
    while os.waitpid(worker, os.WNOHANG) == (0, 0):
        os.kill(worker, signal.SIGTERM)
        time.sleep(0.01)
    return 1


def prefork(_):
    stop = threading.Event()
    threads = [threading.Thread(target=noisy, args=(stop,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    server = socket.create_server(("127.0.0.1", 0))
    workers = set()
    made = 0

    def fill_up():
        nonlocal made
        while len(workers) < 3:
            child = os.fork()
            if not child:
                serve(server, made % 3)
            made += 1
            workers.add(child)

    def reap(flags=os.WNOHANG):  # as a master does that is woken by SIGCHLD
        ended, _ = os.waitpid(-1, flags)
        workers.discard(ended)
        fill_up()
        return ended

    fill_up()
    answers = []
    for i in range(30):
        answers.append(ask(server.getsockname(), b"request %d" % i, reap))
        if i == 10:
            os.kill(min(workers), signal.SIGKILL)
            reap(0)
        while reap():
            pass
    print(answers)
    print(sum(end(worker) for worker in workers))
    stop.set()
    for thread in threads:
        thread.join()


# torch: DataLoaders, torch.multiprocessing; scikit-learn: joblib's processes

def loader(method):
    import torch
    torch.set_num_threads(2)
    torch.manual_seed(1)
    data = torch.utils.data.DataLoader(Rows(), batch_size=16, num_workers=2, multiprocessing_context=method,
                                       persistent_workers=True, worker_init_fn=of_loader)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for epoch in range(3):
        for rows, wanted in data:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(rows).squeeze(1), wanted)
            loss.backward()
            optimizer.step()
        print(epoch, f"{loss.item():.5f}")
    del data  # the threads that fed its workers end; as Python ends it may stop one with a semaphore of theirs half cleaned up
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join()


class Rows:
    def __len__(self):
        return 160

    def __getitem__(self, i):
        import torch
        row = torch.arange(8, dtype=torch.float32) * (i % 7) / 50
        return row, row.sum()


def of_loader(_):
    keep("loader", 2000000)


def hogwild(method):
    """Processes that train one model in shared memory; tensors through a queue."""
    import torch
    import torch.multiprocessing as mp
    model = torch.nn.Linear(4, 1)
    model.share_memory()
    context = mp.get_context(method)
    queue = context.Queue()
    done = context.Event()
    children = [context.Process(target=train_shared, args=(model, queue, done, rank)) for rank in range(2)]
    for child in children:
        child.start()
    print(sorted(float(queue.get().sum()) for _ in range(6)))
    done.set()
    for child in children:
        child.join()
    print([child.exitcode for child in children])


def train_shared(model, queue, done, rank):
    import torch
    keep("hogwild", 2100000 + 100000 * rank)
    torch.set_num_threads(1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for i in range(3):
        optimizer.zero_grad()
        model(torch.ones(8, 4)).pow(2).mean().backward()
        optimizer.step()
        queue.put(torch.full((100,), float(rank * 10 + i)))
    done.wait()  # a tensor's file descriptor is handed over by who made it


def search(backend):
    import joblib
    import sklearn.datasets
    import sklearn.ensemble
    import sklearn.model_selection
    import sklearn.tree
    rows, wanted = sklearn.datasets.load_iris(return_X_y=True)
    with joblib.parallel_backend(backend, n_jobs=2):
        grid = sklearn.model_selection.GridSearchCV(sklearn.tree.DecisionTreeClassifier(random_state=0),
                                                    {"max_depth": [1, 2, 3]}, cv=3).fit(rows, wanted)
        print(backend, grid.best_params_, f"{grid.best_score_:.6f}")
        forest = sklearn.ensemble.RandomForestClassifier(20, random_state=0).fit(rows, wanted)
        print(f"{forest.score(rows, wanted):.6f}")
        print(sum(joblib.Parallel()(joblib.delayed(work)(i) for i in range(40))))


KINDS = {"futures": futures, "pool": pool_of, "broken": broken, "tree": tree, "prefork": prefork, "loader": loader,
         "hogwild": hogwild, "search": search}
if __name__ == "__main__":
    import python_families as families  # so that what is sent to other processes is of a module, which they import
    families.keep("first", 900000)
    families.KINDS[sys.argv[1]](sys.argv[2] if len(sys.argv) > 2 else None)
