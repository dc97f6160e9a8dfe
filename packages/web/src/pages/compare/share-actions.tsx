import type { Comparison } from "@presage/sdk";
import { useLocation } from "@tanstack/react-router";
import { Download, FileJson, FileText } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { comparisonMarkdown } from "./comparison-markdown.ts";

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

/** Has the browser save a text as a file. */
function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Not at once: some browsers start to read after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
