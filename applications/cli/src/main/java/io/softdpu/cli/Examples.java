package io.softdpu.cli;

/** Parts of the examples at the end of each command's help. */
final class Examples {
    /** Heading of the examples, for picocli. */
    static final String HEADING = "%nExamples:%n";

    private Examples() {}
}
