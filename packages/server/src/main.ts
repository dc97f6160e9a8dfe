#!/usr/bin/env bun
import { readConfig, unknownVariables } from "./config.ts";
import { serve } from "./cli/serve.ts";
await serve(readConfig(process.env), unknownVariables(process.env));
