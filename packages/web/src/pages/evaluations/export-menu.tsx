import { Braces, Download, Table } from "lucide-react";
import type { ResultsSearch } from "../../parts/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { Menu, MenuDownload } from "../../ui/overlay/menu.tsx";
import { exportAddress } from "./explorer-filter.ts";

/** Downloads all matching results, not only the loaded ones. */
export function ExportMenu({ search }: { search: ResultsSearch }) {
  return (
    <Menu trigger={<Button icon={<Download aria-hidden />}>Export</Button>}>
      <MenuDownload href={exportAddress(search, "jsonl")} icon={<Braces aria-hidden />}>
        JSON Lines
      </MenuDownload>
      <MenuDownload href={exportAddress(search, "csv")} icon={<Table aria-hidden />}>
        CSV
      </MenuDownload>
    </Menu>
  );
}
