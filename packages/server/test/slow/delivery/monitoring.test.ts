import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { createWorkerFigures } from "../../../src/app/workers.ts";
import {
  createMetrics,
  watchCounts,
  watchFalseSuccess,
  watchProcesses,
  watchReplicas,
  watchUp,
} from "../../../src/platform/observability/metrics.ts";

const folder = resolve(import.meta.dir, "../../../../../deploy/monitoring");
const promtool = Bun.which("promtool");
if (promtool === null) {
  process.stderr.write(
    "Prometheus' rules are not tried out: no promtool was found (Debian: apt-get install prometheus).\n",
  );
}

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}
interface RuleTest {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}
interface Dashboard {
  panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[];
  templating: { list: { query: { query: string } | string }[] };
}

const read = async (name: string) => await Bun.file(join(folder, name)).text();
const { groups } = parse(await read("alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(await read("dashboard.json")) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, texts: legendFormat })),
);
const expressions = [
  ...queries,
  ...rules.map(({ alert, expr, annotations }) => ({
    title: alert,
    expr,
    texts: Object.values(annotations).join(" "),
  })),
];

/** Labels that Prometheus gives every series of a target. */
const targetLabels = ["job", "instance"];

interface Known {
  labels: readonly string[];
  help: string;
}

/** Every series that a server can have, by name. */
async function knownSeries(): Promise<Map<string, Known>> {
  const { registry } = createMetrics();
  watchProcesses(registry, () => 1);
  watchFalseSuccess(registry, async () => []);
  for (const name of ["presage_database_up", "presage_redis_up"] as const)
    watchUp(registry, name, () => true);
  watchReplicas(registry, () => []);
  watchCounts(registry, new Proxy({} as Parameters<typeof watchCounts>[1], { get: () => () => 0 }));
  const known = new Map<string, Known>([["up", { labels: [], help: "" }]]);
  for (const metric of registry.getMetricsAsArray()) {
    const { name, help, labelNames = [] } = metric as typeof metric & { labelNames?: readonly string[] };
    known.set(name, { labels: labelNames, help });
  }
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    if (String(type) !== "histogram") continue;
    known.set(`${name}_bucket`, { labels: ["le"], help: "" });
    known.set(`${name}_count`, { labels: [], help: "" });
    known.set(`${name}_sum`, { labels: [], help: "" });
  }
  const ofWorkers = await createWorkerFigures().read([]);
  for (const [, name = "", help = ""] of ofWorkers.matchAll(/^# HELP (\S+) (.*)$/gm))
    known.set(name, { labels: [], help });
  return known;
}

/** The parts of a PromQL expression that name a series or a label. */
function namesIn(expression: string) {
  const withoutTexts = expression.replaceAll(/"[^"]*"/g, '""');
  const selectors = [...expression.matchAll(/([a-z_]\w*)\{([^}]*)\}/g)].map(
    ([, series = "", inside = ""]) => ({
      series,
      matchers: [...inside.matchAll(/(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"/g)].map(
        ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
      ),
    }),
  );
  const by = [...withoutTexts.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const rest = withoutTexts
    .replaceAll(/\{[^}]*\}/g, "{}")
    .replaceAll(/\bby \([^)]*\)/g, "")
    .replaceAll(/\[[^\]]*\]/g, "");
  const bare = [...rest.matchAll(/\b([a-z_]\w*)\b(?!\s*[({])/g)].map(([, name = ""]) => name);
  return { selectors, by, bare: bare.filter((name) => !["and", "or", "unless"].includes(name)) };
}

test("every metric and label of the dashboard and the alerts is one that the server has", async () => {
  const known = await knownSeries();
  const wrong: string[] = [];
  for (const { title, expr, texts } of expressions) {
    const { selectors, by, bare } = namesIn(expr);
    const labels = new Set(targetLabels);
    if (selectors.length === 0) wrong.push(`${title}: no series`);
    for (const name of bare) wrong.push(`${title}: ${name} has no selector`);
    for (const { series, matchers } of selectors) {
      const metric = known.get(series);
      if (metric === undefined) wrong.push(`${title}: ${series}`);
      for (const label of metric?.labels ?? []) labels.add(label);
      if (!matchers.some(({ label }) => label === "job")) wrong.push(`${title}: ${series} of any job`);
      for (const { label, operator, value } of matchers) {
        if (targetLabels.includes(label)) continue;
        if (!metric?.labels.includes(label)) wrong.push(`${title}: ${series}{${label}}`);
        else if (operator === "=" && !metric.help.includes(value))
          wrong.push(`${title}: ${series}{${label}="${value}"}`);
      }
    }
    const shown = [...texts.matchAll(/\$labels\.(\w+)|\{\{(\w+)\}\}/g)].map(([, one, other]) => one ?? other);
    for (const label of [...by, ...shown])
      if (!labels.has(label ?? "")) wrong.push(`${title}: the label ${label}`);
  }
  expect(wrong).toEqual([]);
  for (const { query } of dashboard.templating.list) {
    const [, series] = /^label_values\((\w+)/.exec(typeof query === "string" ? query : query.query) ?? [];
    if (series !== undefined) expect(known.has(series)).toBe(true);
  }
});

test("every alert has a case of which it tells, and one of which it does not", async () => {
  const { tests } = parse(await read("alerts.test.yaml")) as { tests: RuleTest[] };
  const cases = tests.flatMap(({ alert_rule_test }) =>
    alert_rule_test.map(({ alertname, exp_alerts }) => `${alertname} ${exp_alerts.length > 0}`),
  );
  expect(cases.sort()).toEqual(rules.flatMap(({ alert }) => [`${alert} false`, `${alert} true`]).sort());
});

test.skipIf(promtool === null)(
  "promtool accepts the alerts, the dashboard's queries and each case",
  async () => {
    const work = await mkdtemp(join(tmpdir(), "presage-rules-"));
    const asRules = queries.map(({ expr }, place) => ({
      record: `presage:query_${place}`,
      expr: expr.replaceAll("$__rate_interval", "2m"),
    }));
    const file = join(work, "dashboard.json");
    await Bun.write(file, JSON.stringify({ groups: [{ name: "dashboard", rules: asRules }] }));
    const run = async (...args: string[]) => {
      const child = Bun.spawn([promtool ?? "", ...args], { stdout: "pipe", stderr: "pipe" });
      const shown = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      expect([await child.exited, shown.join("")]).toEqual([0, expect.stringContaining("SUCCESS")]);
    };
    await run("check", "rules", join(folder, "alerts.yaml"), file);
    await run("test", "rules", join(folder, "alerts.test.yaml"));
    await rm(work, { recursive: true });
  },
);
