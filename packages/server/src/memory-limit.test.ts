import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cgroupLimits, memoryLimitBytes } from "./memory-limit.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "presage-cgroup-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, ".."), { recursive: true });
  await Bun.write(join(root, path), text);
}

test("The limits of the own group and of those above it count, in version 2", async () => {
  await write("pods/one/memory.max", "1000\n");
  await write("pods/memory.max", "2000\n");
  await write("memory.max", "max\n");
  expect(cgroupLimits(root, "0::/pods/one\n")).toEqual([1_000, 2_000]);
  expect(cgroupLimits(root, "0::/pods\n")).toEqual([2_000]);
});

test("And in version 1, where the group may be known inside the container at its root only", async () => {
  await write("memory/memory.limit_in_bytes", "3000\n");
  const membership = "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/docker/abc\n";
  expect(cgroupLimits(root, membership)).toEqual([3_000]);
});

test("Without any there is the machine's memory", () => {
  expect(cgroupLimits(root, "0::/elsewhere/that/is/not/there\n")).toEqual([]);
  expect(cgroupLimits(root, "")).toEqual([]);
  expect(memoryLimitBytes()).toBeGreaterThan(1_000_000);
});
