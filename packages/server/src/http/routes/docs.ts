import { Hono } from "hono";
import type { HttpEnv } from "../exchange.ts";
export function docsRoutes() {
  return new Hono<HttpEnv>();
}
