# SPDX-License-Identifier: Apache-2.0
"""python_watched.py [WHO]: Python while somebody looks on (settrace, setprofile, cProfile, monitoring, faulthandler), and what
begins in one thread and goes on in another. As python_stacks.py, each block has a size of its own, and the frames that were
there are told beside it."""
import asyncio
import concurrent.futures
import contextvars
import cProfile
import faulthandler
import queue
import sys
import threading

from python_notes import note, notes, numbers, tell


def deeper(n, what=note):
    return deeper(n - 1, what) if n else what()


def delegate(n):
    yield from numbers(n)
    yield deeper(3)


async def pause():
    note()
    await asyncio.sleep(0)
    return note()


async def waits(n):
    note()
    return await waits(n - 1) if n else await pause()


def elsewhere(what, *arguments):
    """In a thread that was not there before."""
    thread = threading.Thread(target=lambda: deeper(2, lambda: note(what(*arguments))))
    thread.start()
    thread.join()


def handed_on():
    """Generators and coroutines whose next part another thread runs, from another depth."""
    one, two = delegate(3), numbers(4)
    for each in (one, two):
        next(each)
        elsewhere(next, each)
        deeper(5, lambda each=each: next(each))
        elsewhere(next, each)
    coroutine = waits(3)
    coroutine.send(None)

    def finish():
        try:
            coroutine.send(None)
        except StopIteration:
            note()
    elsewhere(finish)
    elsewhere(one.close)


async def loops():
    loop = asyncio.get_running_loop()
    loop.slow_callback_duration = 3600  # -X dev tells of those that took long
    await asyncio.gather(*(waits(n) for n in range(3)))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        await asyncio.gather(*(loop.run_in_executor(pool, deeper, n) for n in range(4)))
    future = asyncio.run_coroutine_threadsafe(waits(2), loop)
    await asyncio.wrap_future(future)
    loop.call_soon(note)
    await asyncio.sleep(0)
    contextvars.copy_context().run(deeper, 2)
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError:
        note()


def passed_round():
    """One generator among threads that take turns."""
    generator, turns = numbers(12), queue.Queue()

    def take(n):
        while turns.get() is not None:
            deeper(n, lambda: next(generator))
            done.put(None)
    done = queue.Queue()
    several = [threading.Thread(target=take, args=(n,)) for n in range(3)]
    for one in several:
        one.start()
    for _ in range(12):
        turns.put(1)
        done.get()
    for _ in several:
        turns.put(None)
    for one in several:
        one.join()


def work():
    deeper(0)
    deeper(30)
    handed_on()
    passed_round()
    asyncio.run(loops())
    exec("deeper(4)\n[note() for _ in range(2)]", globals())
    sorted([3, 1, 2], key=note)


def look_on(frame, event, _argument):
    """Allocates itself, now and then: what looks on is on the stack too. Not in note(), which has a lock."""
    if event in ("call", "return") and len(notes) < 100 and "notes" not in frame.f_code.co_filename:
        note()
    return look_on


def look_at(code, *_):
    if len(notes) < 100 and "notes" not in code.co_filename:
        note()


def monitored():
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(3, "test")
    for event in (events.PY_START, events.PY_RETURN, events.PY_YIELD, events.PY_RESUME):
        sys.monitoring.register_callback(3, event, look_at)
    sys.monitoring.set_events(3, events.PY_START | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME)
    work()
    sys.monitoring.set_events(3, 0)


def main(who):
    if who == "settrace":
        threading.settrace(look_on)
        sys.settrace(look_on)
        work()
        sys.settrace(None)
    elif who == "setprofile":
        threading.setprofile(look_on)
        sys.setprofile(look_on)
        work()
        sys.setprofile(None)
    elif who == "cProfile":
        profile = cProfile.Profile()
        profile.runcall(work)
    elif who == "monitoring" and hasattr(sys, "monitoring"):
        monitored()
    elif who == "faulthandler":
        faulthandler.enable()  # its thread only waits: dumps beside running threads crash Python 3.12 now and then
        faulthandler.dump_traceback_later(1000)
        with open("tracebacks", "w") as out:
            deeper(3, lambda: faulthandler.dump_traceback(out))
        work()
        faulthandler.cancel_dump_traceback_later()
    else:
        work()
    tell()


main(sys.argv[1] if len(sys.argv) > 1 else "nobody")
