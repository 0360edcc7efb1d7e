// Accumulates the elements of a window's row in their order. Every row takes the steps of the longest row, so that
// neighbouring invocations do not diverge.

//// accumulate_row: LOADS loads are in flight.
// provides: accumulate_row
// requires: Acc, Raw, loads_of, place_of_load, loaded, with_loaded, LOADS, CHUNKS
fn accumulate_row(best: Acc, begin: u32, count: u32, step: u32) -> Acc {
  let loads = loads_of(begin, count, step);
  var all = best;
  var next = loads.first;
  for (var number = 0u; number < CHUNKS * LOADS; number += LOADS) {
    var raws: array<Raw, LOADS>;
    for (var i = 0u; i < LOADS; i++) { // unrolled
      raws[i] = loaded(place_of_load(loads, next, number, i));
    }
    for (var i = 0u; i < LOADS; i++) { // unrolled
      all = with_loaded(all, raws[i], place_of_load(loads, next, number, i), loads);
    }
    next += LOADS * loads.step;
  }
  return all;
}

//// row_elements: A load is an element.
// provides: Loads, loads_of, place_of_load, loaded, with_loaded
// requires: Acc, Raw, element, combine, lift
struct Loads {
  first: u32,
  last: u32,
  count: u32,
  step: u32,
}

fn loads_of(begin: u32, count: u32, step: u32) -> Loads {
  return Loads(begin, begin + (count - 1u) * step, count, step);
}

// The position of load `number + i`, where load `number` is at `next`. Reading the last element twice does not change
// the maximum.
fn place_of_load(loads: Loads, next: u32, number: u32, i: u32) -> u32 {
  return select(loads.last, next + i * loads.step, number + i < loads.count);
}

fn loaded(at: u32) -> Raw {
  return element(at);
}

fn with_loaded(all: Acc, raw: Raw, at: u32, loads: Loads) -> Acc {
  return combine(all, lift(raw, at));
}

//// row_words when ROW_WORDS: The elements are contiguous, several to a word, and a load is a word.
// provides: Loads, loads_of, place_of_load, loaded, with_loaded
// requires: Acc, pool, x, OUTPUTS, accumulate_some_of_word
struct Loads {
  first: u32,
  last: u32,
  step: u32,
  // The position of the row's first element, and the number of its elements.
  begin: u32,
  count: u32,
}

fn loads_of(begin: u32, count: u32, step: u32) -> Loads {
  let first = begin - pool.x_first;
  return Loads(first / OUTPUTS, (first + count - 1u) / OUTPUTS, 1u, begin, count);
}

// The number of the word. Reading the last word twice does not change the maximum.
fn place_of_load(loads: Loads, next: u32, number: u32, i: u32) -> u32 {
  return min(next + i, loads.last);
}

fn loaded(at: u32) -> u32 {
  return x[at];
}

fn with_loaded(all: Acc, word: u32, at: u32, loads: Loads) -> Acc {
  return accumulate_some_of_word(all, word, pool.x_first + at * OUTPUTS, loads.begin, loads.count);
}
