import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { faultsOf, readLinesOf, unrecognised } from "./faults.ts";

const refusal = (issue: object) =>
  new PresageError("no", {
    category: "invalid",
    issues: [{ type: "value_error", loc: ["body"], msg: "Value error, Field required", ...issue }],
  });

test("a refused upload names its lines, fields and reasons", () => {
  const issue = {
    loc: ["body", "line", 17, "interaction", "state"],
    ctx: { error: "Field required", file: "a.jsonl", faults: 3 },
  };
  expect(faultsOf(refusal(issue))).toEqual({
    total: 3,
    faults: [
      { file: "a.jsonl", unit: "line", number: 17, field: "interaction.state", reason: "Field required" },
    ],
  });
  expect(faultsOf(refusal({ loc: ["body", "document", 1] })).faults).toMatchObject([
    { unit: "document", field: "" },
  ]);
  expect(faultsOf(refusal({ loc: ["body", "name"] })).faults).toEqual([]);
  expect(faultsOf(new Error("no")).faults).toEqual([]);
});

test("a refusal because no format fits says what each needs", () => {
  const formats = [{ format: "atif", needs: "`schema_version`" }];
  expect(unrecognised(refusal({ type: "unrecognised_layout", msg: "No", ctx: { formats } }))).toEqual({
    reason: "No",
    formats,
  });
  expect(unrecognised(refusal({}))).toBeUndefined();
});

test("lines are found in a file, also in a compressed one", async () => {
  const text = `first\nsecond é\n\n${"x".repeat(300_000)}\nlast`;
  for (const file of [new File([text], "a.jsonl"), new File([Bun.gzipSync(text)], "a.jsonl.gz")]) {
    expect([...(await readLinesOf(file, [5, 6, 2, 3, 4]))]).toEqual([
      [2, "second é"],
      [3, ""],
      [4, "x".repeat(300)],
      [5, "last"],
    ]);
  }
  expect([...(await readLinesOf(new File(["PK\x03\x04\n"], "a.zip"), [1]))]).toEqual([]);
});
