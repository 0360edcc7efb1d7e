//! What the page calls: pictures, plans and backends as JavaScript objects over `wgpu-pooling`.
//!
//! | file | contents |
//! | --- | --- |
//! | `plans.rs` | the numbers of the form to plans, which say what is wrong with them |
//! | `picture.rs` | pixels to planes, planes to pixels, and marks where the maxima are |
//! | `backend.rs` | WebGPU or the CPU: opening, compiling with progress, running, loss |
//! | `results.rs` | what a backend computed, and its first difference from another's |
//! | `stream.rs` | max pools of blobs in bounded memory |
//! | `check.rs` | every element type on both backends against the reference |

mod backend;
mod check;
mod picture;
mod plans;
mod results;
mod stream;

use wasm_bindgen::prelude::*;

/// Runs when the module is loaded: a defect of the program shows in the browser's console with its place.
#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// An error as JavaScript has them, with its text.
fn thrown(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the page was opened, with fractions.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;
}
