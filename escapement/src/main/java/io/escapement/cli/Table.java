package io.escapement.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows of text in aligned columns: the first to the left, the others to the right. */
final class Table {

  private static final String GAP = "  ";
  private static final String INDENT = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  Table(String... headings) {
    rows.add(List.of(headings));
  }

  /** Adds a row; as many cells as there are headings. */
  Table row(Object... cells) {
    List<String> row = new ArrayList<>(cells.length);
    for (Object cell : cells) {
      row.add(String.valueOf(cell));
    }
    if (row.size() != rows.get(0).size()) {
      throw new IllegalArgumentException(row + " does not fit under " + rows.get(0));
    }
    rows.add(row);
    return this;
  }

  /** The lines, the headings first. */
  List<String> lines() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int c = 0; c < columns; c++) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder(INDENT);
    for (int c = 0; c < widths.length; c++) {
      String cell = row.get(c);
      String padding = " ".repeat(widths[c] - cell.length());
      line.append(c == 0 ? "" : GAP).append(c == 0 ? cell + padding : padding + cell);
    }
    return line.toString().stripTrailing();
  }
}
