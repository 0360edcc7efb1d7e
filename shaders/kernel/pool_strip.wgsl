// A pool of large windows that slide by one element along lines and along columns. Eight invocations compute a strip:
// eight neighbouring columns of Y (of one channel, where channels lie inside), LINES lines long. They walk down X in
// blocks of KERNEL_1 lines.
//
//   A line of a block: an invocation loads KERNEL_2 + 7 elements of it and reduces the eight row windows.
//
//     e0 .. e6 | e7 ... | eK .. eK+6         K = KERNEL_2
//      begins     core       ends            row window i: the begins from ei on, the core, the ends before eK+i
//
//   A column of a block: an invocation joins row windows. A window is the end of a block and the begin of the next.
//
//     block      r r r s s s s s             suffixes: the maximum of a line and all below it, kept in registers
//     next one   p p p r r r r r             prefixes: the maximum of a line and all above it
//
// Workgroup memory has the row windows of a block. Values of 32 bits are written from registers (DIRECT); other maxima
// take the place of the row windows, and whole words of Y are written from there.
//
// Fewest bytes: X once, Y once, Indices once. The columns beside a strip and the lines between strips are read again, by
// caches.
// Algorithm: van Herk, Gil and Werman: three joins an element along each axis, whatever the window's extent.
// provides: main, taps, first_tap
// requires: pool, invocation, WORKGROUP, Place, place_of, element_at, origin_of, Origin, Best, one, joined, Kept, kept_of, best_of, moved, Lanes, load_taps, begin_doubts, seen, note_doubts, turn_after, settled, y, insert, Word, ZERO_WORD, OUTPUTS, CHANNELS_INSIDE, COLUMNS, BLOCKS, GROUP, STRIPS_OF_A_GROUP, DIRECT, KERNEL_1, KERNEL_2, BEFORE, TAPS
const STRIPS: u32 = WORKGROUP / 8u;

var<workgroup> kept: array<array<array<Kept, COLUMNS>, STRIPS>, KERNEL_1>;
var<private> taps: array<Lanes, TAPS>;
var<private> suffixes: array<Kept, KERNEL_1>;

// A row window that begins at a tap of the strip's line `line`, which is line `row` of its block.
fn keep(row: u32, strip: u32, column: u32, line: u32, best: Best) {
  kept[row][strip][column] = kept_of(moved(best, line * 64u));
}

fn keep_line(place: Place, strip: u32, row: u32, line: u32, turn: u32) {
  load_taps(place, line);
  seen(place, line, turn);
  var begins: array<Best, 8>;
  begins[7] = one(taps[BEFORE + 7u], 7u);
  for (var tap = 8u; tap < KERNEL_2; tap++) { // unrolled
    begins[7] = joined(begins[7], one(taps[BEFORE + tap], tap));
  }
  for (var i = 0u; i < 7u; i++) { // unrolled
    begins[6u - i] = joined(one(taps[BEFORE + 6u - i], 6u - i), begins[7u - i]);
  }
  keep(row, strip, 0u, line, begins[0]);
  var ends = one(taps[BEFORE + KERNEL_2], KERNEL_2);
  for (var i = 1u; i < 7u; i++) { // unrolled
    keep(row, strip, i, line, joined(begins[i], ends));
    ends = joined(ends, one(taps[BEFORE + KERNEL_2 + i], KERNEL_2 + i));
  }
  let last = joined(begins[7], ends);
  keep(row, strip, 7u, line, last);
  note_doubts(joined(begins[0], last), turn);
}

// The words of Y that an invocation writes: of one line in every OUTPUTS lines of a group of strips. A group is one
// strip or, where elements share words with other channels, the strips of all channels of eight columns (GROUP):
//
//   a line of Y, three channels    a b c a b c a b c a b c a b c a b c a b c a b c
//   words of bytes                [       |       |       |       |       |       ]
struct Words {
  // The place of the group's first strip, and where its indices begin.
  place: Place,
  origin: Origin,
  // The line of the first word in the group, and the word's first element in that line.
  row: u32,
  first: u32,
  // The number in this dispatch of the first element of a word in line 0 of the strip, and the first number beyond the
  // last line. Numbers are modulo 2^32: elements of an earlier dispatch have numbers beyond all outputs.
  number: u32,
  end: u32,
}

fn words_of(place: Place, strip: u32, part: u32) -> Words {
  var words: Words;
  words.place = place;
  words.first = part;
  if (OUTPUTS > 1u) {
    let among = (strip % STRIPS_OF_A_GROUP * 8u + part) * OUTPUTS;
    words.row = among / (GROUP * 8u);
    words.first = among % (GROUP * 8u);
    words.place.channel -= strip % STRIPS_OF_A_GROUP;
    words.number = element_at(place.point, words.place.channel) + words.first - pool.output_first;
  } else {
    words.number = element_at(place.point + part, place.channel) - pool.output_first;
  }
  words.origin = origin_of(place.outer, place.plane, words.place.channel);
  if (u32(place.column + pool.axes[2].pad_begin) + words.first / GROUP < pool.axes[2].output) {
    let lines = pool.axes[1].output - place.out_top;
    words.end = min(words.number + lines * element_at(pool.axes[2].output, 0u), pool.outputs);
  }
  return words;
}

// The number of a window's first tap.
fn first_tap(line: u32, column: u32) -> u32 {
  return line * 64u + column;
}

// Writes one word of one element.
fn put_one(words: Words, line: u32, number: u32, best: Kept) {
  if (number < words.end) {
    y[number] = settled(words.place, words.origin, line, words.first, number, best, 0u);
  }
}

// The windows of a column that begin in the block before. They are written if words hold one element (DIRECT), or take
// the place of the block's row windows.
fn end_windows(words: Words, strip: u32, column: u32, block: u32, turn: u32) {
  let direct = DIRECT != 0u && turn == 0u;
  if (block > 0u) {
    let pitch = element_at(pool.axes[2].output, 0u);
    let line = (block - 1u) * KERNEL_1;
    var number = words.number + line * pitch;
    if (direct) {
      put_one(words, line, number, suffixes[0]);
    }
    if (line + 1u < pool.axes[1].output - words.place.out_top) {
      var ends = best_of(kept[0][strip][column]);
      for (var row = 1u; row < KERNEL_1; row++) { // unrolled
        let best = kept_of(joined(best_of(suffixes[row]), ends));
        number += pitch;
        if (direct) {
          put_one(words, line + row, number, best);
        } else {
          suffixes[row] = best;
        }
        ends = joined(ends, best_of(kept[row][strip][column]));
      }
    }
  }
  if (block < BLOCKS || !direct) {
    var begins = best_of(kept[KERNEL_1 - 1u][strip][column]);
    if (!direct) {
      kept[KERNEL_1 - 1u][strip][column] = suffixes[KERNEL_1 - 1u];
    }
    suffixes[KERNEL_1 - 1u] = kept_of(begins);
    for (var up = 2u; up < KERNEL_1 + 1u; up++) { // unrolled
      begins = joined(best_of(kept[KERNEL_1 - up][strip][column]), begins);
      if (!direct) {
        kept[KERNEL_1 - up][strip][column] = suffixes[KERNEL_1 - up];
      }
      suffixes[KERNEL_1 - up] = kept_of(begins);
    }
  }
}

// Writes the words of the lines from `first` on, whose maxima are in workgroup memory.
fn put_words(words: Words, strip: u32, first: u32, turn: u32) {
  let pitch = element_at(pool.axes[2].output, 0u);
  var number = words.number + (first + words.row) * pitch;
  for (var row = words.row; row < KERNEL_1; row += OUTPUTS) {
    let line = first + row;
    if (number < words.end) {
      var word = ZERO_WORD;
      for (var lane = 0u; lane < OUTPUTS; lane++) { // unrolled
        let column = (words.first + lane) / GROUP;
        let channel = (words.first + lane) % GROUP;
        var place = words.place;
        var origin = words.origin;
        if (GROUP > 1u) {
          place.channel += channel;
          origin = origin_of(place.outer, place.plane, place.channel);
        }
        let best = kept[row][strip - strip % STRIPS_OF_A_GROUP + channel][column];
        word = insert(word, lane, settled(place, origin, line, column, number + lane, best, turn));
      }
      y[number / OUTPUTS] = word;
    }
    number += OUTPUTS * pitch;
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  // Neighbouring invocations have neighbouring columns, or channels.
  var strip = local / 8u;
  var part = local % 8u;
  if (CHANNELS_INSIDE != 0u) {
    strip = local % STRIPS;
    part = local / STRIPS;
  }
  let number = invocation(group, pool.grid_width, 0u) / 8u + strip;
  let place = place_of(pool.block_first + min(number, pool.blocks - 1u));
  var there = number < pool.blocks;
  if (GROUP > 1u) {
    there = there && place.channel < GROUP;
  }
  var words = words_of(place, strip, part);
  words.end = select(0u, words.end, there);
  begin_doubts(local);
  var turn = 0u;
  loop {
    for (var block = 0u; block <= BLOCKS; block++) {
      if (there) {
        for (var row = part; row < KERNEL_1; row += 8u) {
          let line = block * KERNEL_1 + row;
          // No window of the plane has a line beyond these.
          if (place.out_top + line < pool.axes[1].output + KERNEL_1 - 1u) {
            keep_line(place, strip, row, line, turn);
          }
        }
      }
      workgroupBarrier();
      end_windows(words, strip, part, block, turn);
      workgroupBarrier();
      if (DIRECT == 0u || turn > 0u) {
        if (there && block > 0u) {
          put_words(words, strip, (block - 1u) * KERNEL_1, turn);
        }
        workgroupBarrier();
      }
    }
    turn = turn_after(turn, local);
    if (turn == 0u) {
      break;
    }
  }
}
