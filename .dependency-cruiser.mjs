// The floors of the server, and what holds for all packages. `npm run check` fails on an import that climbs.
const server = "^packages/server/src/";

/** What each folder may import besides itself and platform. */
const may = {
  platform: [],
  upstream: [],
  http: [],
  usage: ["http"],
  accounts: ["http"],
  datasets: ["http"],
  predictions: ["http", "upstream"],
  evaluators: ["http", "upstream"],
  results: ["http", "evaluators"],
  runs: ["http", "upstream", "predictions", "datasets", "evaluators", "results"],
  environments: ["http", "upstream", "predictions", "datasets", "evaluators", "results"],
  config: ["upstream"],
  app: [
    ...["http", "upstream", "usage", "accounts", "datasets", "predictions", "evaluators", "results", "runs"],
    "environments",
    "config",
  ],
};

/** Files with verbs and their queries in one. */
const verbsWithQueries = ["results/summary/tags\\.ts$", "results/write/fold\\.ts$"];

const floors = Object.entries(may).map(([folder, lower]) => ({
  name: `${folder} imports only what lies below it`,
  severity: "error",
  from: { path: `${server}${folder}/`, pathNot: "\\.test\\.ts$" },
  to: { path: server, pathNot: `${server}(${["platform", folder, ...lower].join("|")})/` },
}));

export default {
  forbidden: [
    ...floors,
    { name: "no circles, types included", severity: "error", from: {}, to: { circular: true } },
    {
      name: "only stores query",
      severity: "error",
      from: {
        path: server,
        pathNot: ["-store\\.ts$", "\\.test\\.ts$", `${server}(platform/storage|app)/`, ...verbsWithQueries],
      },
      to: { path: "node_modules/kysely/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only the command line uses the SDK",
      severity: "error",
      from: { path: server, pathNot: `${server}cli/` },
      to: { path: "^packages/sdk/" },
    },
    {
      name: "the contract imports zod alone",
      severity: "error",
      from: { path: "^packages/contract/src/", pathNot: "\\.test\\.ts$" },
      to: { pathNot: ["^packages/contract/src/", "node_modules/zod/"] },
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
