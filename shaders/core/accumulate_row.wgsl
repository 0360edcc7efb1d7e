// Accumulates the elements of a window's row in their order. Every row takes the steps of the longest row, so that
// neighbouring invocations do not diverge.

//// accumulate_row: LOADS loads are in flight.
// provides: accumulate_row
// requires: Acc, loads_of, place_of_load, loaded, with_loaded, LOADS, CHUNKS
fn accumulate_row(best: Acc, begin: u32, count: u32, step: u32) -> Acc {
  let loads = loads_of(begin, count, step);
  var all = best;
  var next = loads.first;
  for (var number = 0u; number < CHUNKS * LOADS; number += LOADS) {
    let at_0 = place_of_load(loads, next, number, 0u);
    let at_1 = place_of_load(loads, next, number, 1u);
    let at_2 = place_of_load(loads, next, number, 2u);
    let at_3 = place_of_load(loads, next, number, 3u);
    let at_4 = place_of_load(loads, next, number, 4u);
    let at_5 = place_of_load(loads, next, number, 5u);
    let at_6 = place_of_load(loads, next, number, 6u);
    let at_7 = place_of_load(loads, next, number, 7u);
    let of_0 = loaded(at_0);
    var of_1 = of_0;
    if (LOADS > 1u) {
      of_1 = loaded(at_1);
    }
    var of_2 = of_0;
    if (LOADS > 2u) {
      of_2 = loaded(at_2);
    }
    var of_3 = of_0;
    if (LOADS > 3u) {
      of_3 = loaded(at_3);
    }
    var of_4 = of_0;
    if (LOADS > 4u) {
      of_4 = loaded(at_4);
    }
    var of_5 = of_0;
    if (LOADS > 5u) {
      of_5 = loaded(at_5);
    }
    var of_6 = of_0;
    if (LOADS > 6u) {
      of_6 = loaded(at_6);
    }
    var of_7 = of_0;
    if (LOADS > 7u) {
      of_7 = loaded(at_7);
    }
    all = with_loaded(all, of_0, at_0, loads);
    if (LOADS > 1u) {
      all = with_loaded(all, of_1, at_1, loads);
    }
    if (LOADS > 2u) {
      all = with_loaded(all, of_2, at_2, loads);
    }
    if (LOADS > 3u) {
      all = with_loaded(all, of_3, at_3, loads);
    }
    if (LOADS > 4u) {
      all = with_loaded(all, of_4, at_4, loads);
    }
    if (LOADS > 5u) {
      all = with_loaded(all, of_5, at_5, loads);
    }
    if (LOADS > 6u) {
      all = with_loaded(all, of_6, at_6, loads);
    }
    if (LOADS > 7u) {
      all = with_loaded(all, of_7, at_7, loads);
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

//// row_words: The elements are contiguous, several to a word, and a load is a word.
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
