import { afterAll } from "bun:test";
import { killChildren } from "./presage/child-processes.ts";
import { removeSharedPostgres } from "./store/databases.ts";

afterAll(removeSharedPostgres);
afterAll(killChildren);
