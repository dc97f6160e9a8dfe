import { expect, test } from "bun:test";
import { Window } from "happy-dom";
import { heightOf } from "./data-table.tsx";

test("A row is as high as it and the name of its group above it", () => {
  const { document, DOMRect } = new Window();
  document.body.innerHTML = `<table><tbody>
    <tr><th scope="rowgroup">Monday</th></tr>
    <tr><th scope="row">first</th></tr>
    <tr><th scope="row">second</th></tr>
  </tbody></table>`;
  const [name, first, second] = [...document.querySelectorAll("tr")].map((row, index) =>
    Object.assign(row, {
      getBoundingClientRect: () => new DOMRect(0, [0, 30, 70][index], 0, index ? 40 : 30),
    }),
  );
  expect(name).toBeDefined();
  expect([first, second].map((row) => heightOf(row as unknown as Element))).toEqual([70, 40]);
});
