import { expect, test } from "bun:test";
import { chooseEncoding } from "./choose-encoding.ts";

const nameOf = (accepted: string | null) => chooseEncoding(accepted)?.name;

test("Of several encodings the smaller one is chosen", () => {
  expect(nameOf("gzip, deflate, br, zstd")).toBe("br");
  expect(nameOf("gzip;q=1.0, BR;q=0.5")).toBe("br");
});

test("An encoding that is refused, or not named, is not chosen", () => {
  expect(nameOf("br;q=0, gzip")).toBe("gzip");
  expect(nameOf("br; q=0.000")).toBeUndefined();
  expect(nameOf("identity")).toBeUndefined();
  expect(nameOf(null)).toBeUndefined();
});
