# SPDX-License-Identifier: Apache-2.0
"""Generators and coroutines that tprof.op decorates: how often each goes on is known. python_steps.py DIRECTORY of tprof.py"""
import asyncio
import inspect
import sys
import types

sys.path.insert(0, sys.argv[1])
import tprof  # pylint: disable=wrong-import-position


@tprof.op("generator")
def generator(count):
    total = 0
    for _ in range(count):
        try:
            total += (yield total) or 1
        except KeyError:
            total += 1000
    return total


@tprof.op("coroutine")
async def coroutine(count):
    for _ in range(count):
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return "cancelled"
    with tprof.op("last"):
        return count


@tprof.op("asynchronous")
async def asynchronous(count):
    try:
        for i in range(count):
            await asyncio.sleep(0)
            yield i
    finally:
        await asyncio.sleep(0)
        print("finally", count)


@tprof.op("awaited")
@types.coroutine
def awaited(count):
    for _ in range(count):
        yield
    return count


def delegates():
    return (yield from generator(2))


def drive():
    print(list(generator(3)), list(delegates()))  # 4 + 3
    steps = generator(5)
    print(next(steps), steps.send(7), steps.throw(KeyError), next(steps))  # 4
    steps.close()  # 1
    print(next(steps, "closed"))
    steps = generator(1)
    print(next(steps))  # 1
    try:
        steps.send(5)  # 1
    except StopIteration as end:
        print(end.value)
    steps = generator(2)
    print(next(steps))  # 1
    try:
        steps.throw(ValueError)  # 1
    except ValueError:
        print("left")


async def drive_asynchronously():
    print(await asyncio.gather(*(coroutine(i) for i in range(4))))  # 1 + 2 + 3 + 4
    task = asyncio.ensure_future(coroutine(1000))
    await asyncio.sleep(0)  # 1
    task.cancel()  # 1
    print(await task)
    print(await awaited(3))  # 4
    print([i async for i in asynchronous(5)])  # 5 * 2 + 2
    steps = asynchronous(9)
    print(await steps.__anext__())  # 2
    await steps.aclose()  # 2
    steps = asynchronous(10)
    print(await steps.__anext__())  # 2
    try:
        await steps.athrow(ValueError)  # 2
    except ValueError:
        print("left")


drive()
asyncio.run(drive_asynchronously())
print(inspect.isgeneratorfunction(generator), inspect.iscoroutinefunction(coroutine), inspect.isasyncgenfunction(asynchronous))
