package io.softdpu.block.spi;

import io.softdpu.block.property.BlockUriException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * URI of a block device, divided at its scheme, and the size of a block that its user wants.
 * Immutable; any thread.
 */
public final class DeviceUri {
    private static final Pattern SIZE =
            Pattern.compile("([0-9]{1,19})(?:([KMGT])(?:I?B)?|B)?", Pattern.CASE_INSENSITIVE);
    private static final String UNITS = "KMGT";
    private static final int BITS_PER_UNIT = 10;

    private final String uri;
    private final String rest;
    private final int blockSizeBytes;
    private final String forms;

    /**
     * Creates a URI.
     *
     * @param uri all of it, for messages
     * @param rest its part behind the scheme
     * @param blockSizeBytes a legal size of a block
     * @param forms the known forms, for messages
     */
    DeviceUri(String uri, String rest, int blockSizeBytes, String forms) {
        this.uri = uri;
        this.rest = rest;
        this.blockSizeBytes = blockSizeBytes;
        this.forms = forms;
    }

    /** The part behind the scheme and its colon; all of a bare path. */
    public String rest() {
        return rest;
    }

    /** The size of a block in bytes, which is legal. */
    public int blockSizeBytes() {
        return blockSizeBytes;
    }

    /**
     * The size that the part behind the scheme gives, as {@link #size(String)}.
     *
     * @return bytes, a positive multiple of the block size
     * @throws BlockUriException for anything else
     */
    public long size() {
        return size(rest);
    }

    /**
     * A size in the URI: bytes, or a number with K, M, G or T for powers of 1024, such as {@code
     * 64MiB}.
     *
     * @return bytes, a positive multiple of the block size
     * @throws io.softdpu.core.DpuException INVALID_VALUE for anything else
     */
    public long size(String text) {
        long bytes = sizeOf(text);
        if (bytes == 0 || bytes % blockSizeBytes != 0) {
            throw refused(
                    "size is no positive multiple of the block size, sizeBytes="
                            + bytes
                            + ", blockSizeBytes="
                            + blockSizeBytes);
        }
        return bytes;
    }

    private long sizeOf(String text) {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            throw refused("not a size, size=" + ForeignText.escapeAndCut(text));
        }
        String unit = matcher.group(2);
        int shift =
                unit == null
                        ? 0
                        : BITS_PER_UNIT * (UNITS.indexOf(unit.toUpperCase(Locale.ROOT)) + 1);
        try {
            long number = Text.parseLong(matcher.group(1));
            if (number <= Long.MAX_VALUE >> shift) {
                return number << shift;
            }
        } catch (NumberFormatException e) {
            // more than a long holds, as below
        }
        throw refused("size is too large, size=" + ForeignText.escapeAndCut(text));
    }

    /**
     * The refusal of the URI.
     *
     * @param reason what is wrong, with the value: {@code not a size, size=64Q}
     */
    public BlockUriException refused(String reason) {
        return new BlockUriException(
                Text.format(
                        "URI of a block device is refused: reason=%s, uri=%s, expected=%s",
                        reason, ForeignText.escapeAndCut(uri), forms));
    }

    /** The URI, for messages. */
    @Override
    public String toString() {
        return ForeignText.escapeAndCut(uri);
    }
}
