//! The list of shader parts.

/// A part of a shader.
pub(crate) struct Part {
    /// Its folder and its own name.
    pub name: &'static str,
    /// Its file under shaders/.
    pub file: &'static str,
    /// The header that it shares with the other parts of its file. Empty where the file is one part.
    pub common: &'static str,
    /// Its text, which begins with its own header.
    pub text: &'static str,
}

impl Part {
    /// The names in those lines of its headers that begin with `field`.
    pub fn names<'a>(&self, field: &'a str) -> impl Iterator<Item = &'static str> + use<'a> {
        let headers = [self.common, self.text].map(|text| text.lines().take_while(|line| line.starts_with("//")));
        let lines = headers.into_iter().flatten().filter_map(move |line| line.strip_prefix(field));
        lines.flat_map(|line| line.split(',')).map(str::trim).filter(|name| *name != "nothing")
    }

    /// The condition on which it is meant, between `when` and a colon in its first line.
    pub fn when(&self) -> Option<&'static str> {
        let (first, _) = self.text.lines().next()?.split_once(": ")?;
        let (name, when) = first.trim_start_matches('/').split_once(WHEN)?;
        (!name.trim_start().contains(' ')).then_some(when)
    }
}

/// Where several parts stand in a file, each begins with four slashes and its name.
const BEGIN: &str = "\n//// ";

/// What follows the slashes, or the name, of a part that says when it is meant.
const WHEN: &str = " when ";

/// Whether `part` stands in `text` at this place.
const fn stands_at(text: &str, place: usize, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut equal = 0;
    while equal < part.len() && place + equal < text.len() && text[place + equal] == part[equal] {
        equal += 1;
    }
    equal == part.len()
}

/// The place of the line that begins the next part of a file, or of the file's end.
const fn next_part(file: &str, mut place: usize) -> usize {
    while place < file.len() && !stands_at(file, place, BEGIN) {
        place += 1;
    }
    place
}

/// What stands in a file before its first part.
const fn common(file: &'static str) -> &'static str {
    let first = next_part(file, 0);
    if first == file.len() { "" } else { file.split_at(first).0 }
}

/// The part of a file with this name; the whole file where it is one part.
const fn part(file: &'static str, name: &str) -> &'static str {
    let mut place = next_part(file, 0);
    if place == file.len() {
        return file;
    }
    loop {
        assert!(place < file.len(), "the file has no part of this name");
        let (begin, end) = (place + 1, next_part(file, place + 1));
        let after = place + BEGIN.len() + name.len();
        let ends = stands_at(file, after, ":") || stands_at(file, after, WHEN);
        if stands_at(file, place + BEGIN.len(), name) && ends {
            return file.split_at(end).0.split_at(begin).1;
        }
        place = end;
    }
}

macro_rules! parts {
    ($($folder:ident / $file:ident: $($part:ident)+;)+) => {
        /// Every shader part. A kernel has its parts in this order.
        pub(crate) const PARTS: &[Part] = &[$($({
            const FILE: &str =
                include_str!(concat!("../../shaders/", stringify!($folder), "/", stringify!($file), ".wgsl"));
            const COMMON: &str = common(FILE);
            const TEXT: &str = part(FILE, stringify!($part));
            Part {
                name: concat!(stringify!($folder), "/", stringify!($part)),
                file: concat!(stringify!($folder), "/", stringify!($file), ".wgsl"),
                common: COMMON,
                text: TEXT,
            }
        }),+),+];
    };
}

// The file of a part, then the parts in it.
parts! {
    element / word: word8 word16 word32 words word64 shared_words whole_words;
    element / memory: memory;
    element / lanes_in_memory: lanes8 lanes16 lanes_apart lanes_wide;
    element / quads: quads quads_apart;
    element / unpack_word: unpack_word;
    element / unpack: unpack unpack64;
    element / output: output;
    element / key: key32 key64;
    element / float: f32 f16 bf16;
    element / order: floats f64 integers signed unsigned;
    reduce / nan_policy: nan_policy;
    reduce / mirror: largest smallest_float smallest_integer;
    reduce / accumulator: accumulator;
    reduce / max: max;
    reduce / max_of_keys: key_and_position max_of_integers max_of_words max_of_halves;
    reduce / max_of_lanes: max_of_integers_in_lanes max_of_floats_in_lanes;
    reduce / placed: placed_beside_keys placed_in_keys;
    activation / parameters: parameters;
    activation / activate: none clip leaky_relu hard_sigmoid tanh sigmoid;
    activation / via: via_f32 via_f16 via_bf16;
    activation / exponential: exponential;
    window / axis: axis;
    window / windows: windows;
    window / pass_axis: uniform constant policy;
    window / slide: slide;
    window / slide_row: slide_row;
    window / within: whole part;
    window / clamp_tap: clamp_tap;
    lanes / elements: elements;
    lanes / vector: one word2 word4 pair2 half2 half4 byte4;
    lanes / cell: cell;
    core / grid: grid;
    core / valid: valid;
    core / pool: pool;
    core / element: element;
    core / candidate: candidate;
    core / elements: elements;
    core / candidates: candidates;
    core / output_windows: output_windows;
    core / run: run;
    core / scan: plane scan ordered;
    core / share: share_plane share_candidates share_rows;
    core / team: team;
    core / accumulate_row: accumulate_row row_elements row_words;
    core / accumulators: accumulators;
    core / winner: scanned accumulated;
    core / minus: minus_unsigned minus_signed minus_unsigned64 minus_signed64 minus_floats minus_f64;
    core / kept_words: kept_words;
    core / flags: flags flags_read;
    core / nan_starts: starts_untracked starts_per_group starts_per_window;
    core / met_nan: met_here met_before;
    core / slide_row: slide_row_fours slide_row_ones;
    core / slide_chunk: slide_tap slide_taps;
    core / slide_fetch: slide_x_lanes slide_x_ones slide_kept;
    core / slide_positions: slide_positions;
    core / slide_places: slide_places;
    core / slide_keep: slide_keep;
    core / slide_keep_places: slide_keep_places;
    core / slide_finish: slide_finish;
    core / first_inside: first_inside;
    core / write_first: write_first;
    core / slide_conclude: slide_first slide_first_row slide_noted slide_flag slide_end;
    core / slide_store: slide_by_vectors slide_by_ones;
    core / slide_out: slide_y slide_apart;
    core / slide_place: slide_no_index slide_index;
    core / unpool: unpool;
    core / pick: pick;
    core / quotient: quotient;
    core / gather: gather;
    core / stride_cell: stride_cell;
    core / sources: sources;
    core / own_window: own_window;
    core / in_window: in_window;
    core / ranks: ranks;
    core / outside: outside_claimed outside_reported outside_skipped;
    core / first: first;
    core / report: report;
    core / report_first: reported reported_apart;
    core / owners: owners;
    index / wide: wide;
    index / digits: digits_constant digits_uniform;
    index / digits_of: digits_of;
    index / at: at;
    index / plane: plane;
    index / flat: flat;
    index / place: place;
    index / write: write none;
    index / store: store_i32 store_i64;
    index / read: read_i32 read_i64;
    thread_tile / position: position;
    thread_tile / fours: ones fours8 fours16 fours32 fours fours64;
    thread_tile / output_fours: output_fours output_fours64;
    thread_tile / indices_none: indices_none;
    thread_tile / indices: indices;
    thread_tile / put_indices: put_indices put_indices_i32 put_indices_i64;
    thread_tile / winner: winner_always winner_perhaps;
    thread_tile / lanes: one_lane four_lanes lanes32 lanes64;
    thread_tile / lanes_at: one_at_once pair_at_once four_at_once;
    thread_tile / lanes_from: lanes_from_four lanes_from_pairs;
    thread_tile / keys: keys32 keys64 keys_of_integers keys_of_floats keys_of_pair keys_of_pairs;
    thread_tile / taps: taps taps_along taps_shifted taps_apart;
    thread_tile / shared_words: shared_words;
    thread_tile / place: place;
    thread_tile / numbers: numbers_in_plane numbers_in_tile numbers_are_points;
    thread_tile / tile: tile;
    thread_tile / again: sure doubtful_tile;
    thread_tile / put_lanes: put_one_lane put_four_lanes word_of_outputs put_in_word;
    thread_tile / tile_outcome: tile_outcome;
    thread_tile / store: values values_kept placed_maxima places;
    thread_tile / store_placed: store_one store_in_word store_one_pair store_four store_kept store_four_pairs;
    strip / numbers: numbers;
    strip / lowest: lowest_integer lowest_float;
    strip / taps: taps_by_ones taps_by_fours;
    strip / kept: kept_lanes kept_in_keys kept_beside_keys;
    strip / turns: turns_sure turns_of_places turns_doubtful;
    strip / settled: settled_integers settled_floats settled_places;
    kernel / pool_strip: pool_strip;
    kernel / pool_thread_tile: pool_thread_tile;
    kernel / pool_words: pool_words;
    kernel / pool_shared_words: pool_shared_words;
    kernel / pool_values: pool_values;
    kernel / pool_candidates: pool_candidates;
    kernel / pool_accumulate: pool_accumulate;
    kernel / pool_reduce: pool_reduce;
    kernel / pool_team: pool_team;
    kernel / pool_sliding: pool_sliding;
    kernel / pool_sliding_row: pool_sliding_row;
    kernel / difference: difference;
    kernel / pool_pack: pool_pack;
    kernel / pool_clear_flags: pool_clear_flags;
    index / names: named names_i32 names_i32_wide names_i64 names_i64_wide;
    kernel / unpool_cells: unpool_cells;
    kernel / unpool_runs: unpool_runs;
    kernel / unpool_overlaps: unpool_overlaps;
    kernel / unpool_check: unpool_check;
    kernel / unpool_gather: unpool_gather;
    kernel / unpool_settle: unpool_settle;
    kernel / unpool_clear: unpool_clear;
    kernel / unpool_claim: unpool_claim;
    kernel / unpool_emit: unpool_emit;
    kernel / unpool_report: unpool_report;
    kernel / unpool_fill: unpool_fill;
    kernel / unpool_scatter: unpool_scatter;
}
