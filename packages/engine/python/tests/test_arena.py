"""The allocator of the response arena."""

import os
import random

import numpy as np

from conch_stub.arena import ResponseArena


def make_arena() -> ResponseArena:
    return ResponseArena(os.memfd_create("arena"))


def test_blocks_never_overlap_and_all_memory_comes_back():
    dice = random.Random(4)
    arena = make_arena()
    blocks: dict[int, bytes] = {}
    for step in range(2_000):
        if blocks and dice.random() < 0.5:
            offset = dice.choice(list(blocks))
            data = blocks.pop(offset)
            assert os.pread(arena._descriptor, len(data), offset) == data
            arena.free([offset])
        else:
            data = bytes([step % 256]) * dice.choice([1, 63, 64, 65, 5_000, 70_000])
            offset = arena.place(data)
            assert offset >= 64 and offset % 64 == 0 and offset not in blocks
            blocks[offset] = data
    for offset, data in blocks.items():
        assert os.pread(arena._descriptor, len(data), offset) == data
    arena.free(list(blocks))
    assert arena.used == 0 and arena._free == [(64, arena.size - 64)]


def test_offsets_that_are_not_in_use_are_ignored():
    arena = make_arena()
    offset = arena.place(b"x" * 100)
    arena.free([offset, offset, 7, -1])
    assert arena._free == [(64, arena.size - 64)]


def test_it_grows_to_what_is_needed_and_keeps_the_heartbeat_apart():
    arena = make_arena()
    arena.beat(2**40)
    offset = arena.place(np.full(10 << 20, 3, np.uint8))
    assert offset + (10 << 20) <= arena.size == os.fstat(arena._descriptor).st_size
    arena.free([offset])
    assert int.from_bytes(os.pread(arena._descriptor, 8, 0), "little") == 2**40
    size = arena.size
    for _ in range(20):
        arena.free([arena.place(np.zeros(10 << 20, np.uint8))])
    assert arena.size == size
