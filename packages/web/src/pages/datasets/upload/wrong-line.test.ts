import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { readLineOf, readWrongLine } from "./wrong-line.ts";

function refusal(loc: (string | number)[]) {
  return new PresageError("no", {
    category: "invalid",
    issues: [{ type: "value_error", loc, msg: "Value error, Field required" }],
  });
}

test("a refused upload names its line, field and reason", () => {
  expect(readWrongLine(refusal(["body", "line", 17, "interaction", "state"]))).toEqual({
    line: 17,
    field: "interaction.state",
    reason: "Field required",
  });
  expect(readWrongLine(refusal(["body", "line", 1]))).toMatchObject({ line: 1, field: "" });
  expect(readWrongLine(refusal(["body", "name"]))).toBeUndefined();
  expect(readWrongLine(new Error("no"))).toBeUndefined();
});

test("the line is found in the file, also in a compressed one", async () => {
  const text = `first\nsecond é\n\n${"x".repeat(300_000)}\nlast`;
  for (const file of [new File([text], "a.jsonl"), new File([Bun.gzipSync(text)], "a.jsonl.gz")]) {
    expect(await readLineOf(file, 1)).toBe("first");
    expect(await readLineOf(file, 2)).toBe("second é");
    expect(await readLineOf(file, 3)).toBeUndefined();
    expect(await readLineOf(file, 4)).toBe("x".repeat(2_000));
    expect(await readLineOf(file, 5)).toBe("last");
    expect(await readLineOf(file, 6)).toBeUndefined();
  }
});
