import type { Comparison } from "@presage/sdk";
import { useLocation } from "@tanstack/react-router";
import { Download, FileJson, FileText } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { comparisonMarkdown } from "./comparison-markdown.ts";
import { saveFile } from "./save-file.ts";

/** Takes the comparison elsewhere: into a pull request, an appendix or a script. */
export function ShareActions({ comparison }: { comparison: Comparison }) {
  const { href } = useLocation();
  const markdown = comparisonMarkdown(comparison, location.origin + href);
  return (
    <>
      <CopyButton text={markdown} label="Copy as Markdown">
        Copy as Markdown
      </CopyButton>
      <Menu trigger={<Button icon={<Download aria-hidden />}>Download</Button>}>
        <MenuItem
          icon={<FileText aria-hidden />}
          onSelect={() => saveFile("comparison.md", markdown, "text/markdown")}
        >
          Markdown
        </MenuItem>
        <MenuItem
          icon={<FileJson aria-hidden />}
          onSelect={() =>
            saveFile("comparison.json", JSON.stringify(comparison, undefined, 2), "application/json")
          }
        >
          JSON, all figures
        </MenuItem>
      </Menu>
    </>
  );
}
