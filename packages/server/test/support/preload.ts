import { afterAll } from "bun:test";
import { releaseShared } from "./after-tests.ts";
import { killChildren } from "./presage/child-processes.ts";
import { removeSharedPostgres } from "./store/databases.ts";

afterAll(removeSharedPostgres);
afterAll(releaseShared);
afterAll(killChildren);
