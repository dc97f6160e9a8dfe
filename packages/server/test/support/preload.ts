import { afterAll } from "bun:test";
import { killChildren } from "./children.ts";
import { removeSharedPostgres } from "./databases.ts";

afterAll(removeSharedPostgres);
afterAll(killChildren);
