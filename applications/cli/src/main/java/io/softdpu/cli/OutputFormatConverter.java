package io.softdpu.cli;

/** Parses the form of statistics. */
final class OutputFormatConverter extends WordConverter<OutputFormat> {
    /** For picocli. */
    public OutputFormatConverter() {
        super(OutputFormat.class, OutputFormat::optionName, "no such format", "format");
    }
}
