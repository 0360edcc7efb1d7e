// The page: reads the form, has both backends compute, and shows what they say. What computes is pooling.js, which wasm-bindgen
// writes from src/.
import init, { Backend, Picture, Plans, check, mostPixels } from "./pooling.js";

/** The most bytes of a picture's file. */
const MOST_BYTES = 64 * 1024 * 1024;

const element = (id) => document.getElementById(id);
const number = (id) => (element(id).value.trim() === "" ? NaN : Number(element(id).value));
const count = (value) => value.toLocaleString("en");

/** What computes: the CPU always, WebGPU while there is a device. */
const backends = { cpu: null, webgpu: null };
/** The picture that runs take: a Picture of the wasm module, its name and its ImageData. */
let picture = null;
/** The picture that the next run takes instead. A run may still be using the one before. */
let nextPicture = null;
/** How many pictures were asked for, so that the last one stays if an earlier one takes longer to load. */
let asked = 0;
/** Whether results are wanted that no run has begun to compute. */
let wanted = false;
/** Whether a run is computing, or the backends are checked. Only one of both uses them at a time. */
let busy = false;

// ---- What the page says.

/** Shows a sentence about what a person did, or none. */
function say(place, sentence) {
  element(place).textContent = sentence;
  element(place).hidden = sentence === "";
}

/** Says how far a step has come; without numbers, that it is under way or done. */
function status(sentence, done, all) {
  element("status").textContent = sentence;
  const progress = element("progress");
  progress.hidden = all === undefined;
  if (all !== undefined) {
    progress.max = all;
    progress.value = done;
  }
}

/** The text of whatever was thrown. A trap of the wasm module leaves it unusable, and is a defect. */
function words(error) {
  if (error instanceof WebAssembly.RuntimeError) {
    return `The program of this page has stopped, which is a defect (${error.message}). Reload the page to go on.`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Lets the browser draw what was said before work blocks the page. */
const drawn = () => new Promise((resolve) => setTimeout(resolve, 0));

// ---- Backends.

async function openWebGpu() {
  say("gpu_trouble", "");
  element("reopen").hidden = true;
  let opened = null;
  try {
    opened = await Backend.openWebGpu((reason) => lost(opened, reason));
    backends.webgpu = opened;
  } catch (error) {
    say("gpu_trouble", `This browser offers no WebGPU here, so only the CPU computes. (${words(error)})`);
    element("reopen").hidden = false;
  }
  const radio = document.querySelector('input[value="webgpu"]');
  radio.disabled = backends.webgpu === null;
  document.querySelector(`input[value="${backends.webgpu ? "webgpu" : "cpu"}"]`).checked = true;
}

function lost(backend, reason) {
  if (backends.webgpu !== backend) {
    return;
  }
  // A run may still be waiting for it, so that it is not freed here.
  backends.webgpu = null;
  say("gpu_trouble", `The GPU device is lost, so only the CPU computes until WebGPU is opened again. (${reason.trim()})`);
  document.querySelector('input[value="webgpu"]').disabled = true;
  document.querySelector('input[value="cpu"]').checked = true;
  element("reopen").hidden = false;
  want();
}

const title = (key) => (key === "webgpu" ? "WebGPU" : "CPU");

// ---- Pictures.

/** Takes a picture from a file or from the page's own folder. The one before stays if this one cannot be used. */
async function take(source, name) {
  say("trouble", "");
  asked += 1;
  const turn = asked;
  try {
    if (source instanceof Blob && source.size > MOST_BYTES) {
      throw new Error(`${name} has ${count(source.size)} bytes, and this page takes ${count(MOST_BYTES)} at most.`);
    }
    const image = await load(source, name);
    if (turn !== asked) {
      return;
    }
    const planes = new Picture(new Uint8Array(image.data.buffer), image.height, image.width);
    nextPicture?.planes.free();
    nextPicture = { planes, name, image };
  } catch (error) {
    say("trouble", words(error));
    return;
  }
  want();
}

async function load(source, name) {
  const url = source instanceof Blob ? URL.createObjectURL(source) : source;
  try {
    const image = new Image();
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = () => reject(new Error(`${name} is no picture that this browser can read.`));
      image.src = url;
    });
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    // The size is known before the pixels are decoded: a small file can claim a very large picture.
    if (width * height > mostPixels()) {
      const pixels = `${width} × ${height}, which are ${count(width * height)} pixels`;
      throw new Error(`${name} is ${pixels}, and this page takes ${count(mostPixels())} at most.`);
    }
    if (width * height === 0) {
      throw new Error(`${name} has no pixels: it is ${width} × ${height}.`);
    }
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height);
  } finally {
    if (source instanceof Blob) {
      URL.revokeObjectURL(url);
    }
  }
}

/** What the canvases show, by their ids. */
const shown = new Map();

function show(id, image) {
  shown.set(id, image);
  draw(id);
}

/** Pixels of the wasm module as a picture. */
const imageOf = (pixels, height, width) => new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);

function draw(id) {
  const image = shown.get(id);
  if (image === undefined) {
    return;
  }
  const canvas = element(id);
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// ---- Runs.

/** Asks for results of what the form and the picture are now. */
function want() {
  wanted = true;
  if (!busy) {
    computeAll();
  }
}

async function computeAll() {
  busy = true;
  while (wanted) {
    wanted = false;
    try {
      await compute();
    } catch (error) {
      say("trouble", words(error));
      status("Nothing was computed.");
    }
  }
  busy = false;
}

function plan([height, width]) {
  const size = Float64Array.of(height, width);
  if (element("operator").value === "adaptive_max_pool") {
    return Plans.adaptiveMaxPool(size, Float64Array.of(number("rows"), number("columns")));
  }
  const kernel = Float64Array.of(number("kernel_y"), number("kernel_x"));
  const strides = Float64Array.of(number("stride_y"), number("stride_x"));
  const pads = Float64Array.of(...["pad_top", "pad_left", "pad_bottom", "pad_right"].map(number));
  return Plans.maxPool(size, kernel, strides, pads);
}

/** Has the chosen backend compute and shows that, then the other one, and says whether both agree. */
async function compute() {
  say("trouble", "");
  element("agreement").textContent = "";
  element("timings").tBodies[0].replaceChildren();
  if (nextPicture !== null) {
    picture?.planes.free();
    [picture, nextPicture] = [nextPicture, null];
    show("input", picture.image);
    element("input_caption").textContent = `${picture.name}: ${picture.image.width} × ${picture.image.height}`;
  }
  if (picture === null) {
    status("There is no picture yet.");
    return;
  }
  const { height, width } = picture.image;
  const chosen = backends.webgpu && document.querySelector('input[name="backend"]:checked').value === "webgpu" ? "webgpu" : "cpu";
  const order = chosen === "cpu" ? ["cpu", "webgpu"] : ["webgpu", "cpu"];
  const held = [];
  const results = {};
  try {
    const plans = plan([height, width]);
    held.push(plans);
    for (const key of order) {
      if (backends[key] === null) {
        continue;
      }
      try {
        results[key] = await computeOn(key, plans);
      } catch (error) {
        // What is said of a lost device stands in its own place, and its loss asks for another run.
        if (key === "cpu" || backends.webgpu !== null) {
          say("trouble", `${title(key)}: ${words(error)}`);
        }
        continue;
      }
      held.push(results[key]);
      if (key === chosen) {
        showResults(results[key], plans, [height, width]);
      }
      if (wanted) {
        return;
      }
    }
    conclude(results, chosen);
  } finally {
    held.forEach((object) => object.free());
  }
}

async function computeOn(key, plans) {
  const backend = backends[key];
  status(`${title(key)}: compiling`, 0, 1);
  await drawn();
  const begin = performance.now();
  const prepared = await backend.prepare(plans, (ready, kernels) => {
    status(`${title(key)}: ${ready} of ${kernels} shaders are compiled`, ready, kernels);
  });
  const compiling = performance.now() - begin;
  try {
    status(`${title(key)}: computing`, 0, 1);
    await drawn();
    const first = await prepared.run(picture.planes);
    const again = await prepared.run(picture.planes);
    const times = [key === "cpu" ? null : compiling, first.poolMs, first.unpoolMs, again.poolMs, again.unpoolMs];
    first.free();
    addTimes(backend.name, times);
    return again;
  } finally {
    prepared.free();
  }
}

function addTimes(name, times) {
  const row = element("timings").tBodies[0].insertRow();
  const header = document.createElement("th");
  header.scope = "row";
  header.textContent = name;
  row.append(header);
  for (const time of times) {
    row.insertCell().textContent = time === null ? "–" : time.toFixed(1);
  }
}

function showResults(results, plans, [height, width]) {
  const [rows, columns] = plans.pooledSize;
  show("pooled", imageOf(results.pooledPixels(), rows, columns));
  show("unpooled", imageOf(results.unpooledPixels(), height, width));
  show("marked", imageOf(results.markedPixels(picture.planes), height, width));
  element("pooled_caption").textContent = `Pooled: ${columns} × ${rows}`;
  element("unpooled_caption").textContent = `Unpooled: ${width} × ${height}`;
  if (performance.getEntriesByName("shown").length === 0) {
    performance.mark("shown");
  }
  element("marked_caption").textContent = "Where the maxima are: channels that have one there are lit";
}

function conclude({ webgpu, cpu }, chosen) {
  if ({ webgpu, cpu }[chosen] === undefined) {
    status("Nothing was computed.");
    return;
  }
  status(`Shown are the results of ${chosen === "cpu" ? "the CPU" : "WebGPU"}.`);
  if (webgpu === undefined || cpu === undefined) {
    element("agreement").textContent = `Only ${chosen === "cpu" ? "the CPU" : "WebGPU"} has computed, so nothing was compared.`;
    return;
  }
  const difference = webgpu.difference(cpu);
  const [values, indices] = webgpu.count;
  element("agreement").textContent =
    difference === undefined
      ? `WebGPU and the CPU agree bit for bit, in ${count(values)} values and ${count(indices)} indices.`
      : `WebGPU and the CPU do not agree: ${difference}.`;
}

// ---- Checks.

async function checkAll() {
  if (busy) {
    element("checked").textContent = "Wait until the picture is computed, then check.";
    return;
  }
  busy = true;
  element("failures").replaceChildren();
  try {
    // The check takes its own backends, since it keeps them until its end.
    const all = [Backend.cpu()];
    if (backends.webgpu !== null) {
      all.unshift(await Backend.openWebGpu(() => {}));
    }
    const names = all.length > 1 ? "WebGPU and the CPU" : "the CPU alone";
    const seed = crypto.getRandomValues(new Uint32Array(1))[0];
    const outcome = await check(all, seed, async (dtype) => {
      element("checked").textContent = `Comparing ${dtype} with the reference…`;
      await drawn();
    });
    const { dtypes, cases, agreed, bytes, failures } = outcome;
    outcome.free();
    const what = `${count(agreed)} of ${count(cases)} cases in ${dtypes.length} element types (${dtypes.join(" ")})`;
    element("checked").textContent = `${what} have the bits of the reference, ${count(bytes)} bytes, by ${names}, seed ${seed}.`;
    for (const failure of failures) {
      const item = document.createElement("li");
      item.textContent = failure;
      element("failures").append(item);
    }
  } catch (error) {
    element("checked").textContent = words(error);
  }
  busy = false;
  if (wanted) {
    computeAll();
  }
}

// ---- The page's begin.

function listen() {
  const operator = element("operator");
  operator.addEventListener("change", () => {
    element("windows").hidden = operator.value !== "max_pool";
    element("grids").hidden = operator.value === "max_pool";
  });
  element("form").addEventListener("submit", (event) => event.preventDefault());
  element("form").addEventListener("change", (event) => {
    if (event.target !== element("file")) {
      want();
    }
  });
  element("file").addEventListener("change", () => {
    const [file] = element("file").files;
    if (file) {
      take(file, file.name);
    }
    // So that the same file can be chosen again.
    element("file").value = "";
  });
  element("cat").addEventListener("click", () => take("cat.jpg", "the cat"));
  element("reopen").addEventListener("click", () => openWebGpu().then(want));
  element("lose").addEventListener("click", () => backends.webgpu?.destroy());
  element("check").addEventListener("click", checkAll);

  for (const canvas of document.querySelectorAll("canvas")) {
    // A canvas loses what it shows when the GPU's process crashes.
    canvas.addEventListener("contextrestored", () => draw(canvas.id));
  }

  const dropping = (on) => (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", on);
  };
  document.addEventListener("dragover", dropping(true));
  document.addEventListener("dragleave", dropping(false));
  document.addEventListener("drop", (event) => {
    dropping(false)(event);
    const [file] = event.dataTransfer.files;
    if (file) {
      take(file, file.name);
    } else {
      say("trouble", "What was dropped is no file.");
    }
  });
}

try {
  await init();
  performance.mark("loaded");
  backends.cpu = Backend.cpu();
  listen();
  await openWebGpu();
  await take("cat.jpg", "the cat");
} catch (error) {
  say("trouble", `This page cannot work here: ${words(error)}`);
  status("Nothing was computed.");
}
