import { expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { secretNames } from "../../src/config/environment.ts";

const chart = resolve(import.meta.dir, "../../../../deploy/helm/presage");
const readYaml = async (name: string): Promise<unknown> => parse(await Bun.file(join(chart, name)).text());
const isValid = new Ajv({ allowUnionTypes: true }).compile(
  await Bun.file(join(chart, "values.schema.json")).json(),
);

test("the chart installs this version", async () => {
  expect(await readYaml("Chart.yaml")).toMatchObject({ appVersion: packageJson.version });
});

test.each(["values.yaml", "ci/smallest-values.yaml", "ci/everything-values.yaml"])(
  "%s is as the schema of the values says",
  async (name) => {
    const valid = isValid(await readYaml(name));
    expect([valid, isValid.errors]).toEqual([true, null]);
  },
);

test("a secret is only accepted by reference", () => {
  const accepts = (name: string) => isValid({ environment: { [name]: "a value" } });
  expect([...secretNames].filter(accepts)).toEqual([]);
  expect(accepts("PRESAGE_LOG_LEVEL")).toBe(true);
  expect(isValid({ secrets: { PRESAGE_DATABASE_URL: "postgres://ada:hidden@db/presage" } })).toBe(false);
});

test("a pod can write temporary files, and nothing else", async () => {
  const text = await Bun.file(join(chart, "templates/deployment.yaml")).text();
  for (const wanted of ["readOnlyRootFilesystem: true", "mountPath: /tmp", "emptyDir:"])
    expect(text).toContain(wanted);
});

test("misspelt values are refused", () => {
  expect(isValid({ replica: 3 })).toBe(false);
  expect(isValid({ environment: { LOG_LEVEL: "debug" } })).toBe(false);
});
