import { afterAll } from "bun:test";
import process from "node:process";
import { killChildren } from "./presage/child-processes.ts";
import { startThreadsFrom } from "./presage/threads-of-bundle.ts";
import { removeSharedPostgres } from "./store/databases.ts";

if (process.env.PRESAGE_TEST_MAIN !== undefined) startThreadsFrom(process.env.PRESAGE_TEST_MAIN);

afterAll(removeSharedPostgres);
afterAll(killChildren);
