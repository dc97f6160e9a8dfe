// `npm run check:deploy`: the chart and the monitoring in deploy/, and compose.yaml, with Helm's, Kubernetes', Prometheus' and Docker's
// own programs. They are Go programs that no test can install everywhere, so checks of missing ones are skipped, with a message.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { dashboardAsTypeScript } from "./dashboard-as-typescript.mjs";
import { root } from "./ensure-installed.mjs";

const chart = join(root, "deploy/helm/presage");
const monitoring = join(root, "deploy/monitoring");
/** The oldest version that the chart supports, and the newest with schemas. */
const kubernetesVersions = ["1.30.0", "1.37.0"];
/** A Python package that carries the schemas of Kubernetes; kubeconform would fetch them from GitHub. */
const schemaPackage = "kubernetes-validate==1.37.0";
/** The types of dashboards, panels and queries, which Grafana's makers generate from its own schemas. */
const dashboardTypes = "@grafana/grafana-foundation-sdk@0.0.21";
/** What npm and pip print if no registry can be reached. Any other failure is a fault. */
const unreachable =
  / code (EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)$|NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError/m;
const programs = {
  helm: "go install helm.sh/helm/v4/cmd/helm@v4.3.1",
  kubeconform: "go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
  promtool: "apt-get install prometheus",
};
const work = mkdtempSync(join(tmpdir(), "presage-deploy-"));
const problems = [];

try {
  if (isThere("promtool")) checkMonitoring();
  checkDashboard();
  checkCompose();
  if (isThere("helm")) checkChart(isThere("kubeconform") ? schemas() : undefined);
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkMonitoring() {
  expectSuccess("promtool check rules", "promtool", ["check", "rules", join(monitoring, "alerts.yaml")]);
  expectSuccess("promtool test rules", "promtool", ["test", "rules", join(monitoring, "alerts.test.yaml")]);
}

/** Grafana is not available everywhere, so the dashboard is compiled as values of its types: unknown fields and wrong values are errors. */
function checkDashboard() {
  const folder = join(work, "dashboard");
  mkdirSync(folder);
  const install = [
    "install",
    "--loglevel=error",
    "--no-audit",
    "--no-fund",
    "--prefix",
    folder,
    dashboardTypes,
  ];
  const { status, stderr } = run("npm", install);
  if (status !== 0) {
    leaveOut(`the dashboard, as npm could not install ${dashboardTypes}`, stderr);
    return;
  }
  const dashboard = JSON.parse(readFileSync(join(monitoring, "dashboard.json"), "utf8"));
  writeFileSync(join(folder, "dashboard.ts"), dashboardAsTypeScript(dashboard));
  const compilerOptions = { module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["dashboard.ts"] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  expectSuccess("the dashboard fits Grafana's types", tsc, ["--project", folder]);
}

/** Compose reads and completes the file on its own; no engine has to run. */
function checkCompose() {
  if (run("docker", ["compose", "version"]).status !== 0) {
    process.stdout.write("left out: compose.yaml, as docker has no command compose\n");
    return;
  }
  const passwords = { POSTGRES_PASSWORD: "postgres", VALKEY_PASSWORD: "valkey" };
  const compose = ["compose", "--file", join(root, "compose.yaml"), "config", "--quiet"];
  expectSuccess("compose.yaml", "docker", compose, passwords);
}

function checkChart(schemaFolder) {
  const example = (name) => ["--values", join(chart, "ci", name)];
  for (const name of readdirSync(join(chart, "ci"))) {
    expectSuccess(`helm lint, ${name}`, "helm", ["lint", "--strict", chart, ...example(name)]);
    for (const version of kubernetesVersions) {
      const manifests = render(["--kube-version", version, ...example(name)]).stdout;
      checkPods(name, manifests);
      if (schemaFolder !== undefined)
        checkSchemas(`${name}, Kubernetes ${version}`, manifests, schemaFolder, version);
    }
  }
  const smallest = example("smallest-values.yaml");
  const everything = example("everything-values.yaml");
  expectRefusal("image.repository is not set", []);
  expectRefusal("PRESAGE_BOOTSTRAP_KEY", [...smallest, "--set", "environment.PRESAGE_BOOTSTRAP_KEY=secret"]);
  expectRefusal("replica", [...smallest, "--set", "replica=3"]);
  expectRefusal("publicUrl is not set", [...smallest, "--set", "ingress.enabled=true"]);
  expectRefusal("PRESAGE_METRICS_TOKEN", [...smallest, "--set", "podMonitor.enabled=true"]);
  expectRefusal("kubeVersion", [...everything, "--kube-version", "1.29.0"]);
}

/** Kubernetes applies its own defaults to what a pod may do unless the pod says otherwise, so each of these must be set. */
function checkPods(name, manifests) {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS());
  const { spec } = documents.find(({ kind }) => kind === "Deployment").spec.template;
  const [{ securityContext, env }] = spec.containers;
  const facts = {
    "no token of the cluster": spec.automountServiceAccountToken === false,
    "not root": spec.securityContext.runAsNonRoot && spec.securityContext.runAsUser === 65532,
    "a read-only root": securityContext.readOnlyRootFilesystem,
    "no more rights": securityContext.allowPrivilegeEscalation === false,
    "no capabilities": securityContext.capabilities.drop.join() === "ALL",
    "nothing to write to but /tmp": spec.volumes.every(
      ({ name, configMap }) => configMap || name === "temporary",
    ),
    "no link variables": spec.enableServiceLinks === false,
    "each variable once": new Set(env.map((variable) => variable.name)).size === env.length,
    "only texts as values": env.every(
      ({ value, valueFrom }) => valueFrom !== undefined || typeof value === "string",
    ),
    "numbers as they were written": env.every(({ value = "" }) => !/e[+]/.test(value)),
    "only references to secrets": documents.every(({ kind }) => kind !== "Secret"),
  };
  for (const [fact, holds] of Object.entries(facts))
    if (!holds) problems.push(`${name}: a pod lacks ${fact}`);
}

function checkSchemas(what, manifests, folder, version) {
  const file = join(work, "manifests.yaml");
  writeFileSync(file, manifests);
  const location = join(schemasOf(folder, version), "{{ .ResourceKind }}{{ .KindSuffix }}.json");
  const checked = [
    "-strict",
    "-summary",
    "-schema-location",
    location,
    "-skip",
    "HTTPRoute,PodMonitor",
    file,
  ];
  expectSuccess(`kubeconform, ${what}`, "kubeconform", checked);
}

/** A folder with Kubernetes' schemas, or undefined if they cannot be fetched. */
function schemas() {
  const target = join(work, "schemas");
  const { status, stderr } = run("python3", [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    "--target",
    target,
    schemaPackage,
  ]);
  if (status !== 0) {
    leaveOut(`kubeconform, as pip could not install ${schemaPackage}`, stderr);
    return undefined;
  }
  const folder = join(target, "kubernetes_validate/kubernetes-json-schema");
  for (const version of kubernetesVersions) makeLocal(schemasOf(folder, version));
  return folder;
}

/** Without a network a check is skipped; in continuous integration, or for any other reason, a failure is a problem. */
function leaveOut(what, stderr) {
  if (unreachable.test(stderr) && !process.env.CI) process.stdout.write(`left out: ${what}: ${stderr}\n`);
  else problems.push(`${what}: ${stderr}`);
}

function schemasOf(folder, version) {
  return join(folder, `v${version}-local-strict`);
}

/** Otherwise kubeconform would look for the definitions at the root of the file system, and fetch the schemas of schemas from the internet. */
function makeLocal(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      text.replaceAll('"/api/_definitions', '"_definitions').replace(/^ *"\$schema": "http.*",\n/m, ""),
    );
  }
}

function render(values) {
  return run("helm", ["template", "presage", chart, ...values]);
}

function expectRefusal(reason, values) {
  const { status, stderr } = render(values);
  if (status !== 0 && stderr.includes(reason)) process.stdout.write(`good: refused: ${reason}\n`);
  else problems.push(`${values.join(" ")} is not refused because of "${reason}": ${stderr}`);
}

function expectSuccess(what, program, args, environment = {}) {
  const { status, stdout, stderr } = run(program, args, environment);
  if (status === 0) process.stdout.write(`good: ${what}\n`);
  else problems.push(`${what}: ${stdout}${stderr}`);
}

function isThere(program) {
  if (process.env.PATH.split(delimiter).some((folder) => existsSync(join(folder, program)))) return true;
  process.stdout.write(`left out: ${program} was not found (${programs[program]})\n`);
  return false;
}

function run(program, args, environment = {}) {
  return spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 1e8,
    env: { ...process.env, ...environment },
  });
}
