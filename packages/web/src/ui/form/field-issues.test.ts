import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { fieldIssues, issueAt, otherIssues } from "./field-issues.ts";

const error = new PresageError("refused", {
  category: "invalid",
  faults: [
    {
      loc: ["body", "name"],
      msg: "Value error, Names that begin with system: are taken",
      type: "value_error",
    },
    { loc: ["body", "config", "kinds", 1], msg: "Input should be 'email'", type: "enum" },
    { loc: ["body", "config", "speed"], msg: "Extra inputs are not permitted", type: "extra_forbidden" },
  ],
});

test("a issue is told where it lies, without the words that name its kind", () => {
  expect(issueAt(fieldIssues(error), "name")).toBe("Names that begin with system: are taken");
  expect(issueAt(fieldIssues(error), "description")).toBeUndefined();
});

test("a issue of an item says which one", () => {
  expect(issueAt(fieldIssues(error), "config", "kinds")).toBe("Item 2: Input should be 'email'");
});

test("what lies at no known place is told apart", () => {
  const known = [["name"], ["config", "kinds"]];
  expect(otherIssues(fieldIssues(error), known)).toEqual([
    { path: ["config", "speed"], text: "Extra inputs are not permitted" },
  ]);
});

test("an error of another kind has no places", () => {
  expect(fieldIssues(new Error("lost"))).toEqual([]);
});

test("a name that is taken is told at the name, where there is one to change", () => {
  const conflict = new PresageError("There is one of this name already.", { category: "conflict" });
  expect(fieldIssues(conflict, "name")).toEqual([
    { path: ["name"], text: "There is one of this name already." },
  ]);
  expect(fieldIssues(conflict)).toEqual([]);
});

test("what people meet most is said to them in words of their own", () => {
  const refused = new PresageError("refused", {
    category: "invalid",
    faults: [
      { loc: ["body", "name"], type: "string_too_short", msg: "String should have at least 1 character" },
      { loc: ["body", "title"], type: "string_too_long", msg: "…", ctx: { max_length: 1200 } },
      { loc: ["body", "config", "substrings"], type: "too_short", msg: "List should have at least 1 item" },
    ],
  });
  const issues = fieldIssues(refused);
  expect(issueAt(issues, "name")).toBe("Fill this in.");
  expect(issueAt(issues, "title")).toBe("1,200 characters are the most.");
  expect(issueAt(issues, "config", "substrings")).toBe("Add at least one.");
});
