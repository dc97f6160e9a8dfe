// The floors of the server and of the dashboard, and what holds for all packages. `npm run check` fails on an import that climbs.
const server = "^packages/server/src/";
const web = "^packages/web/src/";

/** What each folder of the server may import besides itself and platform. */
const serverFloors = {
  platform: [],
  upstream: [],
  http: [],
  usage: ["http", "upstream"],
  accounts: ["http"],
  datasets: ["http"],
  worlds: ["http", "upstream", "datasets", "evaluators"],
  predictions: ["http", "upstream", "worlds"],
  evaluators: ["http", "upstream"],
  results: ["http", "datasets", "evaluators"],
  environments: ["http", "upstream", "predictions", "datasets", "worlds", "evaluators", "results"],
  runs: ["http", "upstream", "predictions", "datasets", "worlds", "evaluators", "results", "environments"],
  exports: ["http", "predictions", "datasets", "runs", "environments"],
  shares: ["http", "accounts", "datasets", "runs", "reality"],
  reality: ["http", "upstream", "datasets", "evaluators", "runs", "environments"],
  config: ["upstream", "reality"],
  app: [
    "http",
    "upstream",
    "usage",
    "accounts",
    "datasets",
    "worlds",
    "predictions",
    "evaluators",
    "results",
    "runs",
    "environments",
    "exports",
    "shares",
    "reality",
    "config",
  ],
};

/** Files with verbs and their queries in one. */
const verbsWithQueries = [
  "environments/episodes/show-episode",
  "results/summary/tags",
  "results/times",
  "results/write/merge-counts",
  "runs/goals",
  "runs/imported",
].map((file) => `${server}${file}\\.ts$`);

/** What each folder of the dashboard may import besides itself and the files that stand by themselves. */
const webFloors = {
  format: [],
  data: ["format"],
  ui: ["format"],
  parts: ["format", "data", "ui"],
  pages: ["format", "data", "ui", "parts"],
  shell: ["format", "data", "ui", "parts"],
  docs: ["format", "data", "ui", "parts", "shell"],
};

const floorsOf = (root, floors, common) =>
  Object.entries(floors).map(([folder, lower]) => ({
    name: `${folder} imports only what lies below it`,
    severity: "error",
    from: { path: `${root}${folder}/` },
    to: { path: root, pathNot: [`${root}${common}`, `${root}(${[folder, ...lower].join("|")})/`] },
  }));

export default {
  forbidden: [
    ...floorsOf(server, serverFloors, "platform/"),
    ...floorsOf(web, webFloors, "(session|theme|search-params)\\.ts$"),
    {
      name: "a page imports no other page",
      severity: "error",
      from: { path: `${web}pages/([^/]+)/` },
      to: { path: `${web}pages/`, pathNot: `${web}pages/$1/` },
    },
    { name: "no circles, types included", severity: "error", from: {}, to: { circular: true } },
    {
      name: "only stores query",
      severity: "error",
      from: {
        path: server,
        pathNot: ["-store\\.ts$", `${server}(platform/storage|app)/`, ...verbsWithQueries],
      },
      to: { path: "node_modules/kysely/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only the command line uses the SDK",
      severity: "error",
      from: { path: server, pathNot: `${server}cli/` },
      to: { path: "^(@presage/sdk|packages/sdk/)" },
    },
    {
      name: "the contract imports zod alone",
      severity: "error",
      from: { path: "^packages/contract/src/" },
      to: { pathNot: ["^packages/contract/src/", "node_modules/zod/"] },
    },
    {
      name: "the SDK imports the contract alone",
      severity: "error",
      from: { path: "^packages/sdk/src/" },
      to: { pathNot: "^(packages/sdk/|@presage/contract|packages/contract/)" },
    },
    {
      name: "the sandbox imports no other package",
      severity: "error",
      from: { path: "^packages/sandbox/src/" },
      to: { pathNot: ["^packages/sandbox/src/"], dependencyTypesNot: ["core"] },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: ["\\.(css|html)$", "\\.(test|fixture)\\.tsx?$"] },
  },
};
