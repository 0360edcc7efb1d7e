// The page in Chromium: what a person sees, on the built-in picture, on hostile files, when the GPU is lost or missing. web/test
// runs it. What the page computes is compared with plain loops that stand here.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { crc32, deflateSync } from "node:zlib";

const { chromium } = await import(process.env.PLAYWRIGHT);

const WITHOUT_WINDOW = [
  "--headless=new",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const WITH_WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".jpg": "image/jpeg" };
const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/\/$/, "/index.html");
  try {
    const bytes = await readFile(join(process.env.POOLING_SITE, path));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
let origin;
before(async () => {
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  origin = `http://localhost:${server.address().port}`;
});
after(() => server.close());

/** Opens the page in a browser of its own, lets `work` use it, and fails if the page threw or logged an error meanwhile. */
async function withPage(flags, work) {
  const profile = await mkdtemp(join(tmpdir(), "pooling-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM,
    args: [...WITHOUT_WINDOW, ...flags],
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    const elsewhere = [];
    page.on("request", (request) => {
      if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(origin)) {
        elsewhere.push(request.url());
      }
    });
    await page.goto(origin);
    await work(page, context);
    assert.deepEqual(errors, []);
    assert.deepEqual(elsewhere, []);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const AGREE = /^WebGPU and the CPU agree bit for bit, in ([\d,]+) values and ([\d,]+) indices\.$/;
const CPU_ALONE = "Only the CPU has computed, so nothing was compared.";
const numberOf = (text) => Number(text.replaceAll(",", ""));

/** Waits until an element's text is this one, or matches it, and returns it. */
async function text(page, id, expected) {
  const source = expected instanceof RegExp ? expected.source : null;
  const wait = page.waitForFunction(
    ([id, source, exact]) => {
      const element = document.getElementById(id);
      const text = element.hidden ? "" : element.textContent;
      return (source === null ? text === exact : new RegExp(source).test(text)) && { text };
    },
    [id, source, String(expected)],
  );
  try {
    return (await (await wait).jsonValue()).text;
  } catch (error) {
    throw new Error(`#${id} is ${JSON.stringify(await page.textContent(`#${id}`))}, expected ${expected}`, { cause: error });
  }
}

/** Fills in fields by their ids, then waits until both backends agree on what that gives. */
async function agreeOn(page, fields) {
  await page.evaluate((fields) => {
    document.getElementById("agreement").textContent = "";
    for (const [id, value] of Object.entries(fields)) {
      document.getElementById(id).value = value;
    }
    document.getElementById("operator").dispatchEvent(new Event("change", { bubbles: true }));
  }, fields);
  return (await text(page, "agreement", AGREE)).match(AGREE).slice(1).map(numberOf);
}

/** A canvas as it is shown: its size and the bytes of its pixels. */
async function pixels(page, id) {
  const canvas = await page.evaluate((id) => {
    const canvas = document.getElementById(id);
    const { width, height, data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let text = "";
    for (let at = 0; at < data.length; at += 0x8000) {
      text += String.fromCharCode(...data.subarray(at, at + 0x8000));
    }
    return { width, height, base64: btoa(text) };
  }, id);
  const data = Buffer.from(canvas.base64, "base64");
  return { ...canvas, data, at: (y, x, channel) => data[(y * canvas.width + x) * 4 + channel] };
}

/** The pictures on the page are what plain loops over the windows of the input make of it. */
async function comparePictures(page, rows, columns, window) {
  const [input, pooled, unpooled, marked] = await Promise.all(
    ["input", "pooled", "unpooled", "marked"].map((id) => pixels(page, id)),
  );
  assert.deepEqual([pooled.height, pooled.width], [rows, columns]);
  for (const other of [unpooled, marked]) {
    assert.deepEqual([other.height, other.width], [input.height, input.width]);
  }
  const kept = new Uint8Array(input.height * input.width * 3);
  const lit = new Uint8Array(input.height * input.width * 3);
  let wrong = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [[top, bottom], [left, right]] = window(row, column);
      for (let channel = 0; channel < 3; channel++) {
        let [best, best_y, best_x] = [-1, 0, 0];
        for (let y = Math.max(top, 0); y < Math.min(bottom, input.height); y++) {
          for (let x = Math.max(left, 0); x < Math.min(right, input.width); x++) {
            if (input.at(y, x, channel) > best) {
              [best, best_y, best_x] = [input.at(y, x, channel), y, x];
            }
          }
        }
        wrong += Number(pooled.at(row, column, channel) !== best);
        kept[(best_y * input.width + best_x) * 3 + channel] = best;
        lit[(best_y * input.width + best_x) * 3 + channel] = 1;
      }
    }
  }
  for (let pixel = 0; pixel < input.height * input.width; pixel++) {
    const lights = lit.subarray(3 * pixel, 3 * pixel + 3);
    const isMarked = lights.includes(1);
    for (let channel = 0; channel < 3; channel++) {
      wrong += Number(unpooled.data[4 * pixel + channel] !== kept[3 * pixel + channel]);
      const shown = marked.data[4 * pixel + channel];
      wrong += Number(isMarked ? shown !== (lights[channel] ? 255 : 105) : shown > (input.data[4 * pixel + channel] * 3 + 255) * 11 / 64);
    }
  }
  assert.equal(wrong, 0, "samples that plain loops compute otherwise");
  return input;
}

/** A PNG file of one grey, with the size that `claimed` says in its header. */
function png(height, width, claimed = [height, width]) {
  const chunk = (type, body) => {
    const data = Buffer.concat([Buffer.from(type, "latin1"), body]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    check.writeUInt32BE(crc32(data));
    return Buffer.concat([length, data, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claimed[1], 0);
  header.writeUInt32BE(claimed[0], 4);
  header.writeUInt8(8, 8);
  const rows = deflateSync(Buffer.alloc(height * (width + 1)), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

/** Drops a file on the page. */
async function drop(page, name, bytes) {
  await page.evaluate(
    ([name, base64]) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], name));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    [name, Buffer.from(bytes).toString("base64")],
  );
}

/** The built-in picture with the windows that the form begins with. */
async function compareTheCat(page) {
  const side = (start) => [4 * start, 4 * start + 4];
  const input = await pixels(page, "input");
  await comparePictures(page, Math.floor(input.height / 4), Math.floor(input.width / 4), (y, x) => [side(y), side(x)]);
}

test("the built-in picture is pooled by both backends, which agree", () =>
  withPage(WITH_WEBGPU, async (page) => {
    const counts = (await text(page, "agreement", AGREE)).match(AGREE).slice(1).map(numberOf);
    const { width, height } = await pixels(page, "input");
    const pooled = 3 * Math.floor(height / 4) * Math.floor(width / 4);
    assert.deepEqual(counts, [pooled + 3 * height * width, pooled]);
    await compareTheCat(page);
    assert.equal(await page.textContent("#status"), "Shown are the results of WebGPU.");
    const marks = await page.evaluate(() => performance.getEntriesByType("mark").map(({ name, startTime }) => [name, startTime]));
    assert.deepEqual(marks.map(([name]) => name), ["loaded", "shown"]);
    console.log(`The first result is shown ${Math.round(marks[1][1] - marks[0][1])} ms after the module is compiled.`);
    const times = await page.$$eval("#timings tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.match(times[0][0], /^\w.*, webgpu, \w+$/);
    assert.match(times[1][0], /^CPU, 1 thread, \w+$/);
    for (const time of times.flatMap((row) => row.slice(1))) {
      assert.match(time, /^(\d+\.\d|–)$/);
    }
    await page.check('input[value="cpu"]');
    await text(page, "status", "Shown are the results of the CPU.");
    await compareTheCat(page);
  }));

test("other windows and a grid, too", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    const overlapping = { kernel_y: 5, kernel_x: 7, stride_y: 2, stride_x: 3, pad_top: 2, pad_left: 1, pad_bottom: 1, pad_right: 4 };
    await agreeOn(page, { operator: "max_pool", ...overlapping });
    const { width, height } = await pixels(page, "input");
    const [rows, columns] = [Math.floor((height + 3 - 5) / 2) + 1, Math.floor((width + 5 - 7) / 3) + 1];
    await comparePictures(page, rows, columns, (y, x) => [[2 * y - 2, 2 * y + 3], [3 * x - 1, 3 * x + 6]]);

    const counts = await agreeOn(page, { operator: "adaptive_max_pool", rows: 23, columns: 37 });
    assert.equal(counts[1], 3 * 23 * 37);
    const part = (i, cells, extent) => [Math.floor((i * extent) / cells), Math.ceil(((i + 1) * extent) / cells)];
    await comparePictures(page, 23, 37, (y, x) => [part(y, 23, height), part(x, 37, width)]);
  }));

test("progress is shown while shaders compile", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    await page.evaluate(() => {
      window.said = [];
      const status = document.getElementById("status");
      new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
    });
    await agreeOn(page, { kernel_y: 3, kernel_x: 6 });
    const said = await page.evaluate(() => window.said);
    const steps = said.map((said) => said.match(/^WebGPU: (\d+) of (\d+) shaders are compiled$/)).filter((step) => step !== null);
    assert.ok(steps.length >= 2, `no two steps are among ${JSON.stringify(said)}`);
    const ready = steps.map((step) => Number(step[1]));
    const all = Number(steps[0][2]);
    assert.deepEqual(ready, [...ready].sort((a, b) => a - b));
    assert.deepEqual([ready[0], ready.at(-1)], [0, all]);
  }));

test("a picture that is dropped is pooled", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    await drop(page, "grey.png", png(30, 50));
    await text(page, "input_caption", "grey.png: 50 × 30");
    await text(page, "agreement", `WebGPU and the CPU agree bit for bit, in ${(3 * (7 * 12 + 30 * 50)).toLocaleString("en")} values and 252 indices.`);

    // Dropped while a run computes on another one: the last one counts.
    await page.evaluate(() => {
      const status = document.getElementById("status");
      window.computing = new Promise((resolve) => {
        new MutationObserver(() => status.textContent === "WebGPU: computing" && resolve()).observe(status, { childList: true });
      });
    });
    await drop(page, "large.png", png(900, 1200));
    await page.evaluate(() => window.computing);
    await drop(page, "words.png", Buffer.from("this is no picture"));
    await text(page, "trouble", "words.png is no picture that this browser can read.");
    await drop(page, "one.png", png(20, 8));
    await drop(page, "two.png", png(8, 20));
    await text(page, "input_caption", "two.png: 20 × 8");
    await text(page, "agreement", "WebGPU and the CPU agree bit for bit, in 510 values and 30 indices.");
  }));

test("hostile files are refused in a sentence, and the page goes on", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    const unreadable = (name) => `${name} is no picture that this browser can read.`;
    const files = {
      "words.png": [Buffer.from("this is no picture"), unreadable("words.png")],
      "empty.jpg": [Buffer.alloc(0), unreadable("empty.jpg")],
      "cut.png": [png(30, 50).subarray(0, 40), /^cut\.png (is no picture|has no pixels)/],
      "noise.webp": [Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31) & 255)), unreadable("noise.webp")],
      "page.html": [Buffer.from("<script>document.title = 'taken'</script>"), unreadable("page.html")],
      "claims.png": [png(3, 5, [60_000, 60_000]), /^claims\.png is /],
      "large.png": [png(5000, 5000), "large.png is 5000 × 5000, which are 25,000,000 pixels, and this page takes 8,388,608 at most."],
      "heavy.png": [Buffer.alloc(64 * 1024 * 1024 + 1), "heavy.png has 67,108,865 bytes, and this page takes 67,108,864 at most."],
    };
    for (const [name, [bytes, sentence]] of Object.entries(files)) {
      await drop(page, name, bytes);
      await text(page, "trouble", sentence);
      await agreeOn(page, {});
      await text(page, "trouble", "");
    }
    await compareTheCat(page);
    assert.equal(await page.title(), "Max pooling in the browser");
  }));

test("numbers that make no pool are refused in a sentence, and the page goes on", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    const wrong = [
      [{ kernel_y: 0 }, /kernel/],
      [{ kernel_y: "" }, /^NaN is no whole number/],
      [{ kernel_y: 2.5 }, "2.5 is no whole number, and the window needs one."],
      [{ stride_x: "1e300" }, /is no whole number, and the stride needs one\.$/],
      [{ stride_x: 0 }, /stride/],
      [{ pad_top: -1 }, /pad/],
      [{ kernel_x: 100_000 }, /^The pooled picture would be 0 × \d+: the window exceeds the padded picture of \d+ × \d+\.$|exceeds/],
      [{ pad_right: 1_000_000, stride_y: 1, stride_x: 1 }, /which are [\d,]+ pixels, and this page takes [\d,]+ at most\.$/],
      [{ operator: "adaptive_max_pool", rows: 0 }, /./],
      [{ operator: "adaptive_max_pool", rows: 9_000_000_000_000_000 }, /./],
    ];
    const right = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("input[type=number], select")].map(({ id, value }) => [id, value])));
    for (const [fields, sentence] of wrong) {
      await page.evaluate((fields) => {
        for (const [id, value] of Object.entries(fields)) {
          document.getElementById(id).value = value;
        }
        document.getElementById("operator").dispatchEvent(new Event("change", { bubbles: true }));
      }, fields);
      await text(page, "trouble", sentence);
      await agreeOn(page, right);
      await text(page, "trouble", "");
    }
  }));

const LOST = /^The GPU device is lost, so only the CPU computes until WebGPU is opened again\. \(.+\)$/;

test("a lost device is said, the CPU goes on, and WebGPU can be opened again", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    await page.evaluate(() => document.getElementById("lose").click());
    await text(page, "gpu_trouble", LOST);
    await text(page, "agreement", CPU_ALONE);
    await compareTheCat(page);
    await page.click("#reopen");
    await text(page, "agreement", AGREE);
    await text(page, "gpu_trouble", "");
    assert.equal(await page.textContent("#status"), "Shown are the results of WebGPU.");

    // Lost while shaders compile, and while a run waits for its results.
    for (const moment of ["compiling", "0 of", "computing"]) {
      await page.evaluate((moment) => {
        const status = document.getElementById("status");
        const watch = new MutationObserver(() => {
          if (status.textContent.startsWith("WebGPU: ") && status.textContent.includes(moment)) {
            watch.disconnect();
            setTimeout(() => document.getElementById("lose").click(), 1);
          }
        });
        watch.observe(status, { childList: true });
        document.getElementById("agreement").textContent = "";
        document.getElementById("kernel_y").value = Number(document.getElementById("kernel_y").value) + 1;
        document.getElementById("operator").dispatchEvent(new Event("change", { bubbles: true }));
      }, moment);
      await text(page, "gpu_trouble", LOST);
      await text(page, "agreement", CPU_ALONE);
      await text(page, "trouble", "");
      await page.click("#reopen");
      await text(page, "agreement", AGREE);
    }
  }));

test("a GPU process that crashes is a lost device, too", () =>
  withPage(WITH_WEBGPU, async (page, context) => {
    await text(page, "agreement", AGREE);
    const session = await context.browser().newBrowserCDPSession();
    await session.send("Browser.crashGpuProcess");
    await text(page, "gpu_trouble", LOST);
    await text(page, "agreement", CPU_ALONE);
    // The crash takes what the canvases show, and the browser says a little later that they can be drawn again.
    await page.waitForFunction(() =>
      [...document.querySelectorAll("canvas")].every(({ width, height, id }) =>
        document.getElementById(id).getContext("2d").getImageData(0, 0, width, height).data.some((sample) => sample > 0),
      ),
    );
    await compareTheCat(page);
    await page.click("#reopen");
    await text(page, "agreement", AGREE);
  }));

test("all element types have the bits of the reference on both backends", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    await page.evaluate(() => document.getElementById("check").click());
    const said = await text(page, "checked", /seed \d+\.$/);
    console.log(said);
    assert.deepEqual(await page.$$eval("#failures li", (items) => items.map((item) => item.textContent)), []);
    const [, agreed, cases, kinds, names] = said.match(/^([\d,]+) of ([\d,]+) cases in (\d+) element types \((.*)\) have the bits of the reference, [\d,]+ bytes, by WebGPU and the CPU,/);
    assert.equal(names, "f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64");
    assert.equal(Number(kinds), 12);
    // 19 cases in 12 element types on two backends.
    assert.deepEqual([numberOf(agreed), numberOf(cases)], [456, 456]);
  }));

/**
 * In the page: pools the bytes of a blob on WebGPU within 64 KiB. The source and what takes the result let other tasks of the
 * page run meanwhile. From read `failing` on, the blob's file is gone.
 */
async function poolBlob(failing) {
  const { Backend } = await import("/pooling.js");
  const backend = await Backend.openWebGpu(() => {});
  const [channels, height, width] = [3, 150, 140];
  const bytes = Uint8Array.from({ length: channels * height * width }, (_, at) => (at * at * 31 + (at >> 7)) & 255);
  const blob = new Blob([bytes]);
  let reads = 0;
  blob.slice = (begin, end) => {
    reads += 1;
    if (reads > failing) {
      return { arrayBuffer: () => Promise.reject(new DOMException("the file is gone", "NotReadableError")) };
    }
    return Blob.prototype.slice.call(blob, begin, end);
  };
  const [rows, columns] = [Math.floor((height - 3) / 2) + 1, Math.floor((width - 5) / 3) + 1];
  const pooled = new Uint8Array(channels * rows * columns);
  const take = async (first, piece) => {
    await new Promise((resolve) => setTimeout(resolve));
    pooled.set(piece, first);
  };
  let tiles;
  try {
    tiles = await backend.streamMaxPool(blob, [1, channels, height, width], [3, 5], [2, 3], 65536, take);
  } catch (error) {
    return { isError: error instanceof Error, name: error.name, message: error.message };
  }
  let wrong = 0;
  for (let at = 0; at < pooled.length; at++) {
    const [channel, row, column] = [Math.floor(at / columns / rows), Math.floor(at / columns) % rows, at % columns];
    let best = 0;
    for (let y = 2 * row; y < 2 * row + 3; y++) {
      for (let x = 3 * column; x < 3 * column + 5; x++) {
        best = Math.max(best, bytes[(channel * height + y) * width + x]);
      }
    }
    wrong += Number(pooled[at] !== best);
  }
  return { tiles, reads, wrong };
}

test("a blob is pooled in tiles that the page waits for, and an error in it is thrown", () =>
  withPage(WITH_WEBGPU, async (page) => {
    await text(page, "agreement", AGREE);
    const { tiles, reads, wrong } = await page.evaluate(poolBlob, Infinity);
    assert.ok(tiles >= 2 && reads >= tiles, `${tiles} tiles in ${reads} reads`);
    assert.equal(wrong, 0, "bytes that plain loops compute otherwise");
    for (const failing of [0, 1]) {
      const { isError, name, message } = await page.evaluate(poolBlob, failing);
      assert.deepEqual([isError, name], [true, "SourceError"]);
      assert.match(message, /^reading \d+ elements of x from \d+ on: the file is gone$/);
    }
  }));

test("without WebGPU the page says so and computes on the CPU", () =>
  withPage([], async (page) => {
    await text(page, "gpu_trouble", /^This browser offers no WebGPU here, so only the CPU computes\. \(.+\)$/);
    await text(page, "agreement", CPU_ALONE);
    await text(page, "status", "Shown are the results of the CPU.");
    await compareTheCat(page);
    assert.equal(await page.isDisabled('input[value="webgpu"]'), true);
    await page.evaluate(() => document.getElementById("check").click());
    const said = await text(page, "checked", /seed \d+\.$/);
    assert.match(said, /^228 of 228 cases in 12 element types .* by the CPU alone,/);
  }));
