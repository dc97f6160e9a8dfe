// `npm run release -- VERSION`: checks that a version can be released and builds all of its files. It uploads nothing: that is left
// to someone who has the right to do so, with the commands that it prints.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure-installed.mjs";
import { filesOfVersion } from "./files-of-version.mjs";
import { findPython, withoutPython } from "./find-python.mjs";
import { runOrExit } from "./run-or-exit.mjs";

const [version = ""] = process.argv.slice(2);
const dist = join(root, "dist");
const problems = findProblems();
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\n`);
  process.exit(1);
}
rmSync(dist, { recursive: true, force: true });
runOrExit("npm", ["run", "--silent", "build:package"]);
runOrExit("npm", ["run", "--silent", "build:executable"]);
runOrExit("npm", ["run", "--silent", "build:python"]);
const files = readdirSync(dist).sort();
const sums = files.map((name) => `${sha256(join(dist, name))}  ${name}\n`).join("");
writeFileSync(join(dist, "SHA256SUMS"), sums);
const packages = files.filter((name) => name.endsWith(".tgz"));
const ofPython = files.filter((name) => /\.(whl|tar\.gz)$/.test(name));
process.stdout.write(
  [
    `\nReady in dist/: ${files.join(", ")}, SHA256SUMS. Nothing was uploaded. To publish, in a CI job that may sign for this repository:`,
    ...packages.map((name) => `  npm publish ./dist/${name}`),
    `  twine upload ${ofPython.map((name) => `dist/${name}`).join(" ")}`,
    `  git tag v${version} && git push origin v${version}`,
    `  docker buildx build --platform linux/amd64,linux/arm64 --tag REGISTRY/presage:${version} --push .`,
    `  helm package deploy/helm/presage && helm push presage-${version}.tgz oci://REGISTRY/charts`,
    "and attach the executables, THIRD-PARTY-LICENCES.txt and SHA256SUMS to the release.\n",
  ].join("\n"),
);

function findProblems() {
  const found = [];
  if (!/^\d+\.\d+\.\d+$/.test(version)) return ["Usage: npm run release -- VERSION, such as 0.2.0"];
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (repository?.url === undefined)
    found.push(
      "package.json: repository.url is not set. Set it to the project's address, such as git+https://HOST/OWNER/presage.git: npm compares it with where a package was built.",
    );
  for (const { path, text, wanted } of filesOfVersion(version))
    if (text !== wanted)
      found.push(`${path}: it is not of version ${version}. Run npm run set-version -- ${version}.`);
  if (!readFileSync(join(root, "CHANGELOG.md"), "utf8").includes(`\n## [${version}]`))
    found.push(
      `CHANGELOG.md: there is no section [${version}]. Give [Unreleased] that name and begin a new one above it.`,
    );
  if (findPython() === undefined) found.push(withoutPython);
  return [...found, ...findProblemsOfHistory()];
}

function findProblemsOfHistory() {
  const found = [];
  try {
    if (git("status", "--porcelain") !== "")
      found.push("There are changes that are not committed. Commit them first.");
    if (git("tag", "--list", `v${version}`) !== "")
      found.push(`The tag v${version} exists already. Choose a higher version.`);
  } catch (error) {
    found.push(
      `git says nothing of this folder: ${firstLine(error)}. Run this in a clone, with git installed.`,
    );
  }
  return found;
}

/** Git's output, or why it could not be started. */
function firstLine({ stderr, message }) {
  const [line = ""] = String(stderr || message).split("\n");
  return line;
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
}

function sha256(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
