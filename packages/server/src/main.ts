#!/usr/bin/env bun
import { serve } from "./cli/serve.ts";
import { readConfig, unknownVariables } from "./config.ts";

await serve(readConfig(process.env), unknownVariables(process.env));
