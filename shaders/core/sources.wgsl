// Sources of a gathering unpool.
// provides: LANE_IDS, Four, One, values_at
// requires: gather, Raw, Elements, load_lanes, activate
const LANE_IDS: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);

// Four sources with their indices; a lane without a source has an index that matches no element.
struct Four {
  values: Elements,
  named: vec4<u32>,
}

// One source.
struct One {
  value: Raw,
  named: u32,
}

// The values of four sources from a position on.
fn values_at(position: u32) -> Elements {
  let last = gather.sources - 1u;
  let loaded = load_lanes(min(position, last), last);
  return Elements(activate(loaded.a), activate(loaded.b), activate(loaded.c), activate(loaded.d));
}
