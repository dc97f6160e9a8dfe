import { afterAll } from "bun:test";
import { endTests } from "./after-tests.ts";
import { killChildren } from "./presage/child-processes.ts";
import { removeSharedPostgres } from "./store/databases.ts";

afterAll(removeSharedPostgres);
afterAll(endTests);
afterAll(killChildren);
