import { expect, test } from "bun:test";
import { z } from "zod";
import { ruleFamilies } from "./registry.ts";

test("every setting of every family has a description, which the form of a profile shows", () => {
  const undescribed = ruleFamilies.flatMap(({ name, config }) => {
    const { properties = {} } = z.toJSONSchema(config, { io: "input", unrepresentable: "any" });
    return Object.entries(properties)
      .filter(([, setting]) => typeof setting === "boolean" || setting.description === undefined)
      .map(([setting]) => `${name}: ${setting}`);
  });
  expect(undescribed).toEqual([]);
});
