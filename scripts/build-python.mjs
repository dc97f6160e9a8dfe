// `npm run build:python [-- FOLDER]`: builds the Python client's wheel and source distribution, in `dist/`, and installs the wheel
// once to see that it works. Needs Python 3.10 or newer with venv.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root } from "./ensure-installed.mjs";
import { findPython, withoutPython } from "./find-python.mjs";

const client = join(root, "clients", "python");
const version = matchIn("pyproject.toml", /^version = "(.*)"$/m);
const hatchling = matchIn("requirements-test.txt", /^hatchling==(.*)$/m);
const folder = resolve(process.argv[2] ?? join(root, "dist"));
const work = mkdtempSync(join(tmpdir(), "presage-python-"));
const systemPython = findPython();
try {
  if (systemPython === undefined) throw new Error(withoutPython);
  for (const path of build()) process.stdout.write(`${path}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

function build() {
  const wheel = join(folder, `presage_client-${version}-py3-none-any.whl`);
  const built = [wheel, join(folder, `presage_client-${version}.tar.gz`)];
  mkdirSync(folder, { recursive: true });
  for (const path of built) rmSync(path, { force: true });
  run(pythonWithHatchling(), "-m", "hatchling", "build", "--directory", folder);
  for (const path of built) if (!existsSync(path)) throw new Error(`${path} was not built.`);
  expectInstallable(wheel);
  return built;
}

/** Installs the wheel into an empty environment. */
function expectInstallable(wheel) {
  const python = environment("install");
  run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel);
  const installed = versionIn(python, "presage-client");
  if (installed !== version) throw new Error(`The wheel is of version ${installed}, not of ${version}.`);
  run(python, "-m", "presage", "predict", "--help");
}

/** A Python that has the backend already, or else a virtual environment with it. */
function pythonWithHatchling() {
  if (versionIn(systemPython, "hatchling") === hatchling) return systemPython;
  const python = environment("build");
  run(python, "-m", "pip", "install", "--quiet", `hatchling==${hatchling}`);
  return python;
}

/** The Python of a new virtual environment. */
function environment(name) {
  const path = join(work, name);
  run(systemPython, "-m", "venv", path);
  return process.platform === "win32" ? join(path, "Scripts", "python.exe") : join(path, "bin", "python");
}

/** The version of an installed package, or an empty text. */
function versionIn(python, name) {
  const ask = `from importlib import metadata as m; print(next((d.version for d in m.distributions(name="${name}")), ""))`;
  return run(python, "-c", ask).trim();
}

function run(command, ...args) {
  return execFileSync(command, args, {
    cwd: client,
    // Keeps out sources that the user may have in PYTHONPATH.
    env: { ...process.env, PYTHONPATH: "" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function matchIn(file, pattern) {
  const [, found] = pattern.exec(readFileSync(join(client, file), "utf8")) ?? [];
  if (found === undefined) throw new Error(`clients/python/${file}: ${pattern} was not found.`);
  return found;
}
