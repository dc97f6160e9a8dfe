import { expect, test } from "bun:test";
import { AuditEventListResponse, HTTPValidationError, ImportPreview } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const key = ["gh", "p_", "a1B2c3".repeat(6)].join("");
const sample = {
  trajectory_id: "t",
  step: 0,
  interaction: { state: `The key is ${key}.`, action: `login CUST-123456 --token ${key}` },
  next_state: '{"password": "hunter2"}',
};
const rules = 'rules:\n  - name: customer\n    pattern: "CUST-\\\\d{6}"\n';

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { create, upload, uploadNew, exportLines } = datasetClient(presage);

  test("an upload says what of secrets is replaced, and its revision what was", async () => {
    const id = await create();
    expect((await uploadNew(id, [sample])).import?.redacted).toEqual({});
    expect(await exportLines(id)).toContain(key);

    const byDefault = await uploadNew(id, [sample], { query: "?redact=default" });
    expect(byDefault.import?.redacted).toEqual({ github: 1 });
    expect(JSON.parse(await exportLines(id))).toMatchObject({
      interaction: {
        state: "The key is [redacted:github#1].",
        action: "login CUST-123456 --token [redacted:github#1]",
      },
      next_state: sample.next_state,
    });

    const query = `?redact=strict&redact_rules=${encodeURIComponent(rules)}`;
    const strict = await uploadNew(id, [sample], { query });
    expect(strict.import?.redacted).toEqual({ customer: 1, github: 1, value: 1 });
    expect(strict.import?.options).toEqual({
      redact: "strict",
      redact_rules: expect.stringMatching(/^sha256:\w{64}$/),
    });
    expect(JSON.parse(await exportLines(id))).toMatchObject({
      interaction: { action: "login [redacted:customer#1] --token [redacted:github#1]" },
      next_state: '{"password": "[redacted:value#1]"}',
    });
  });

  test("rules alone are added to the default, in a preview too", async () => {
    const path = `/v1/imports/preview?redact_rules=${encodeURIComponent(rules)}`;
    const response = await presage.call("POST", path, JSON.stringify(sample), { "x-api-key": testKey });
    expect(response.status).toBe(200);
    expect(ImportPreview.parse(await response.json()).redacted).toEqual({ customer: 1, github: 1 });
  });

  test("a secret that is appended has a number of its own", async () => {
    const id = await create();
    await uploadNew(id, [sample], { query: "?redact=default" });
    const other = JSON.stringify({ ...sample, step: 1 }).replaceAll("a1B2c3", "d4E5f6");
    const query = "?redact=default&append=true";
    const appended = await uploadNew(id, [JSON.parse(other)], { query });
    expect(appended.import?.redacted).toEqual({ github: 1 });
    expect(await exportLines(id)).toContain("The key is [redacted:github#2].");
  });

  test("a preview counts trajectories that lie apart once, and of a split foretells only its tag's refusal", async () => {
    const full = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`t${index}`, "x"]));
    const lines = [
      ...["t", "u", "t"].map((trajectory_id, step) => ({ ...sample, trajectory_id, step })),
      { ...sample, trajectory_id: "v", tags: full },
    ];
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    const path = "/v1/imports/preview?split_by=trajectory";
    const response = await presage.call("POST", path, body, { "x-api-key": testKey });
    const { trajectories, first, faults } = ImportPreview.parse(await response.json());
    expect([trajectories, first.map(({ tags }) => tags)]).toEqual([2, [undefined, undefined, undefined]]);
    const msg = "With the tag `split` it has more than 50 tags";
    expect(faults).toMatchObject([{ loc: ["body", "line", 4, "tags"], msg }]);
  });

  test.each<[name: string, query: Record<string, string>, message: RegExp]>([
    ["no YAML", { redact_rules: "rules: [" }, /not valid YAML/],
    ["an unknown field", { redact_rules: "rule: []" }, /rule/],
    [
      "a pattern of nothing",
      { redact_rules: "rules: [{name: a, pattern: 'x*'}]" },
      /0: pattern: it matches the empty/,
    ],
    ["rules with none", { redact: "none", redact_rules: "emails: true" }, /leave one of them out/],
    ["too long rules", { redact_rules: `# ${"x".repeat(8_192)}` }, /8192 characters/],
  ])("%s is refused", async (_, query, message) => {
    const options = { query: `?${new URLSearchParams(query)}` };
    const response = await upload(await create(), JSON.stringify(sample), options);
    expect(response.status).toBe(422);
    const [issue] = HTTPValidationError.parse(await response.json()).detail;
    expect(issue?.loc).toEqual(["query", "redact_rules"]);
    expect(issue?.msg).toMatch(message);
  });

  test("the audit log has it if an upload asks that nothing is redacted", async () => {
    const id = await create();
    await uploadNew(id, [{ ...sample, step: 1 }]);
    await uploadNew(id, [{ ...sample, step: 2 }], { query: "?redact=none" });
    const path = `/v1/audit-events?action=dataset.add_revision&object_id=${id}`;
    const events = AuditEventListResponse.parse(await (await presage.call("GET", path)).json());
    expect(events.data.map(({ detail }) => detail)).toEqual([
      { name: expect.any(String), revision: 2, samples: 1, redact: "none" },
      { name: expect.any(String), revision: 1, samples: 1 },
    ]);
  });
});
