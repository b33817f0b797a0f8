package io.softdpu.cli.options;

import io.softdpu.linux.text.GivenText;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the path of a file or folder, of every option that has one. */
public final class PathConverter implements ITypeConverter<Path> {
    /** For picocli. */
    public PathConverter() {}

    @Override
    public Path convert(String text) {
        return GivenText.path("", text, TypeConversionException::new);
    }
}
