import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { exactMatch } from "../evaluators/exact-match.ts";
import type { Family } from "../evaluators/family.ts";
import { checkConfig } from "./check-config.ts";

const words = () => "in our words";

/** As the parser of requests keeps an integer that no double holds. */
function longInteger(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}

function familyOf(config: z.ZodType): Family {
  return { ...exactMatch, config };
}

describe("Checking a config", () => {
  test("keeps what the caller sent, in its order and without defaults", () => {
    expect(checkConfig(exactMatch, { strip_tags: true, trim: false }, words)).toMatchObject({
      family: exactMatch,
      json: '{"strip_tags":true,"trim":false}',
    });
  });

  test("takes a long integer for the number that an evaluation reads, and keeps its digits", () => {
    const seeded = familyOf(z.strictObject({ seed: z.number().max(1e20) }));
    const config = { seed: longInteger("12345678901234567890") };
    expect(checkConfig(seeded, config, words)).toMatchObject({ json: '{"seed":12345678901234567890}' });
    expect(checkConfig(seeded, { seed: longInteger("100000000000000000001000000") }, words)).toMatchObject({
      issues: [{ code: "too_big", path: ["seed"] }],
    });
  });

  test("says every fault in the given words", () => {
    expect(checkConfig(exactMatch, { trim: 1, typo: true }, words)).toMatchObject({
      issues: [
        { path: ["trim"], message: "in our words" },
        { code: "unrecognized_keys", keys: ["typo"], message: "in our words" },
      ],
    });
  });
});
