import { expect, test } from "bun:test";
import { browserAddress } from "./pages.ts";

test("A browser on this machine goes to localhost where the server listens everywhere, else to the same address", () => {
  expect(browserAddress("http://0.0.0.0:8080")).toBe("http://localhost:8080");
  expect(browserAddress("http://[::]:8080")).toBe("http://localhost:8080");
  expect(browserAddress("http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080");
  expect(browserAddress("http://[::1]:80")).toBe("http://[::1]");
  expect(browserAddress("http://gpu-1:8080")).toBe("http://gpu-1:8080");
});
