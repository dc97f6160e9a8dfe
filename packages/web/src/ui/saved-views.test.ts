import { expect, test } from "bun:test";
import { isSameSearch, withoutView, withView } from "./saved-views.tsx";

test("views are kept by name, and one of the same name is replaced", () => {
  const views = withView(withView([], { name: "mine", search: "?app=a" }), { name: "all", search: "" });
  expect(views.map(({ name }) => name)).toEqual(["all", "mine"]);
  expect(withView(views, { name: "mine", search: "?app=b" })).toContainEqual({
    name: "mine",
    search: "?app=b",
  });
  expect(withoutView(views, "all")).toEqual([{ name: "mine", search: "?app=a" }]);
});

test("the order of parameters does not matter", () => {
  expect(isSameSearch("?app=a&tag=b", "?tag=b&app=a")).toBe(true);
  expect(isSameSearch("?app=a", "?app=b")).toBe(false);
  expect(isSameSearch("?app=a", "?app=a&sort=-&columns=-")).toBe(true);
});
