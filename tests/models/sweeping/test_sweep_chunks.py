"""How sweeps are cut: whatever the chunks, blocks are merged in one order."""

from hypothesis import given
from hypothesis import strategies as st

from headway.models.sweeping.chunks import Chunk, Chunks, Subtree, folded, joined, next_chunk


def bracketed(left, right):
    """A merge that is not associative: it remembers its order."""
    return {"": f"({left['']} {right['']})"}


def leaf(number):
    return Subtree(Chunk(0, number), ({"": str(number)},))


def solved(chunk):
    """What a worker gives of a chunk: its blocks joined one by one."""
    subtrees = ()
    for number in range(chunk.first, chunk.end):
        subtrees = joined(subtrees, leaf(number), [bracketed])
    (subtree,) = subtrees
    assert subtree.chunk == chunk
    return subtree


def order(chunks):
    """How all blocks of chunks in order are merged."""
    subtrees = ()
    for chunk in chunks:
        subtrees = joined(subtrees, solved(chunk), [bracketed])
    return folded(subtrees, [bracketed])[0][""]


@given(st.integers(1, 70), st.lists(st.integers(0, 6), min_size=1, max_size=70))
def test_any_chunks_merge_blocks_in_the_same_order(count, levels):
    first, cut = 0, []
    while first < count:
        cut.append(next_chunk(first, count, levels[len(cut) % len(levels)]))
        first = cut[-1].end
    assert first == count
    assert order(cut) == order([Chunk(0, number) for number in range(count)])


def test_six_blocks_make_a_tree():
    assert order(Chunks(0, 6, level=1)) == "(((0 1) (2 3)) (4 5))"


@given(st.integers(0, 10**9), st.integers(1, 10**6), st.integers(0, 40))
def test_a_chunk_begins_where_it_should_and_ends_within(first, more, level):
    chunk = next_chunk(first, first + more, level)
    assert chunk.first == first
    assert first < chunk.end <= first + more
    assert chunk.level <= level


def test_chunks_grow_and_shrink_with_the_time_they_take():
    chunks = Chunks(0, 10**9)
    sizes = []
    for seconds_a_block in [0.001] * 30 + [0.1] * 30:
        chunk = next(chunks)
        sizes.append((chunk.end - chunk.first) * seconds_a_block)
        chunks.took(chunk, sizes[-1])
    assert all(0.2 <= seconds <= 1 for seconds in sizes[20:30] + sizes[40:])


def test_chunks_of_a_fixed_size_keep_it():
    chunks = Chunks(0, 16, level=2, fixed=True)
    for chunk in chunks:
        assert chunk.level == 2
        chunks.took(chunk, 100.0)
