import { afterAll } from "bun:test";
import { removeSharedPostgres } from "./databases.ts";

afterAll(removeSharedPostgres);
