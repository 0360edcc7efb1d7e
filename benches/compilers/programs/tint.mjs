// Gives texts and schedules to another WebGPU than wgpu: Dawn, whose compiler is Tint, from the npm package `webgpu`.
//
//     node tint.mjs WEBGPU texts FOLDER SECONDS       every WGSL text that FOLDER/manifest.json lists, as a compute pipeline
//     node tint.mjs WEBGPU schedules FILE SECONDS     every schedule of FILE, executed and compared with what it is to give
//
// WEBGPU is the package's index.js. Nothing is begun after SECONDS, and what takes half a minute longer is left unfinished:
// a driver on a CPU may need minutes for a kernel. Errors and warnings of the compiler are failures, and so is any bit that
// differs. Exit codes: 1 where something fails, 3 where there is no adapter.
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [, , webgpu, mode, source, seconds] = process.argv;
const end = Date.now() + Number(seconds) * 1000;
const { create, globals } = await import(pathToFileURL(webgpu));
Object.assign(globalThis, globals);
// Dawn's instance is freed with this object, while devices and promises of it are still in use: it has to outlive them.
globalThis.gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.error('Dawn finds no adapter here.');
    process.exit(3);
}
// The default limits of WebGPU and no feature: the crate promises that it needs no more.
const device = await adapter.requestDevice();
const { vendor, architecture, description } = adapter.info;
console.log(`opened: ${[description || architecture || vendor, 'Dawn'].join(', ')}`);
let lost;
device.lost.then((why) => { lost = why; });

const modules = new Map();
// A pipeline for a text; its layout is that of the text, or the one that is given.
async function pipeline(text, entryPoint, layout) {
    let module = modules.get(text);
    if (!module) {
        module = device.createShaderModule({ code: text });
        const said = (await module.getCompilationInfo()).messages;
        if (said.length > 0) {
            throw new Error(said.map((it) => `${it.type} in line ${it.lineNum}: ${it.message}`).join('\n'));
        }
        if (modules.size > 500) modules.clear();
        modules.set(text, module);
    }
    return device.createComputePipelineAsync({ layout, compute: { module, entryPoint } });
}

const bytesOf = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));

// Runs a schedule and gives the bytes of the buffers that are named.
async function execute(schedule, inputs, wanted) {
    const { STORAGE, COPY_DST, COPY_SRC, UNIFORM, MAP_READ } = GPUBufferUsage;
    const buffers = {};
    for (const [name, { bytes, contents }] of Object.entries(schedule.buffers)) {
        buffers[name] = device.createBuffer({ size: bytes, usage: STORAGE | COPY_DST | COPY_SRC });
        // Whatever is not given holds garbage, so that an output that is not written differs.
        const isZero = name === 'report' && schedule.keeps_report;
        const filled = inputs[name] ?? contents;
        const garbage = () => new Uint8Array(bytes).fill(isZero ? 0 : 0xa5);
        device.queue.writeBuffer(buffers[name], 0, filled ? bytesOf(filled) : garbage());
    }
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    const uniforms = [];
    for (const dispatch of schedule.dispatches) {
        const entry = (binding, type) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } });
        const group = device.createBindGroupLayout({
            entries: [
                entry(0, 'uniform'),
                ...dispatch.bindings.map((it) => entry(it.binding, it.read_only ? 'read-only-storage' : 'storage')),
            ],
        });
        const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
        pass.setPipeline(await pipeline(dispatch.wgsl, dispatch.entry, layout));
        const contents = bytesOf(dispatch.uniform);
        const uniform = device.createBuffer({ size: contents.length, usage: UNIFORM | COPY_DST });
        uniforms.push(uniform);
        device.queue.writeBuffer(uniform, 0, contents);
        const bound = dispatch.bindings.map(({ binding, buffer, offset, bytes }) => ({
            binding,
            resource: { buffer: buffers[buffer], offset, size: bytes ?? undefined },
        }));
        pass.setBindGroup(0, device.createBindGroup({
            layout: group,
            entries: [{ binding: 0, resource: { buffer: uniform } }, ...bound],
        }));
        pass.dispatchWorkgroups(...dispatch.grid);
    }
    pass.end();
    const copies = {};
    for (const name of wanted) {
        const size = buffers[name].size;
        copies[name] = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
        encoder.copyBufferToBuffer(buffers[name], 0, copies[name], 0, size);
    }
    device.queue.submit([encoder.finish()]);
    const found = {};
    for (const [name, copy] of Object.entries(copies)) {
        await copy.mapAsync(GPUMapMode.READ);
        found[name] = Buffer.from(copy.getMappedRange()).toString('hex');
        copy.unmap();
    }
    for (const it of [...Object.values(buffers), ...Object.values(copies), ...uniforms]) it.destroy();
    return found;
}

let [ran, failures] = [0, 0];
const unfinished = Symbol('unfinished');

function conclude() {
    console.log(`ran ${ran} of ${total} ${mode}, ${failures} failed`);
    process.exit(failures > 0 || ran === 0 ? 1 : 0);
}

// Counts an attempt; whatever Dawn reports meanwhile is an error too.
async function attempt(name, what) {
    if (Date.now() >= end || lost) return;
    ran += 1;
    const began = Date.now();
    device.pushErrorScope('internal');
    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('validation');
    let error;
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, end + 30_000 - Date.now(), unfinished); });
    try {
        error = await Promise.race([what(), late]);
        clearTimeout(timer);
        if (error === unfinished) {
            console.log(`left unfinished after ${((Date.now() - began) / 1000).toFixed(0)} s: ${name}`);
            ran -= 1;
            conclude();
        }
    } catch (thrown) {
        error = thrown.message;
    }
    for (let scope = 0; scope < 3; scope += 1) {
        const reported = await device.popErrorScope();
        error ??= reported?.message;
    }
    const took = (Date.now() - began) / 1000;
    if (took > 10) console.log(`takes ${took.toFixed(0)} s: ${name}`);
    if (error) {
        failures += 1;
        if (failures <= 20) console.log(`FAILS: ${name}\n    ${String(error).split('\n').slice(0, 8).join('\n    ')}`);
    }
}

let total = 0;
if (mode === 'texts') {
    const list = JSON.parse(readFileSync(join(source, 'manifest.json')));
    total = list.length;
    for (const { kernel, files } of list) {
        await attempt(kernel, async () => {
            await pipeline(readFileSync(join(source, files.wgsl), 'utf8'), 'main', 'auto');
        });
    }
} else {
    const lines = () => createInterface({ input: createReadStream(source) });
    for await (const _ of lines()) total += 1;
    for await (const line of lines()) {
        const { name, schedule, inputs, outputs } = JSON.parse(line);
        await attempt(name, async () => {
            const found = await execute(schedule, inputs, Object.keys(outputs));
            const differs = Object.keys(outputs).filter((it) => found[it] !== outputs[it]);
            return differs.length > 0 ? `${differs.join(' and ')} differ from the reference` : undefined;
        });
    }
}
if (lost) {
    console.log(`FAILS: the device is lost: ${lost.message}`);
    failures += 1;
}
conclude();
