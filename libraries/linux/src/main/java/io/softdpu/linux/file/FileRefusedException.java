package io.softdpu.linux.file;

import io.softdpu.linux.text.Text;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Refusal of a file that exists but does not meet its {@link FilePolicy}. The message is {@code
 * file refused: file=PATH, reason=REASON, expected=EXPECTED}.
 */
public final class FileRefusedException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    private final String reason;

    /** Description of a file that would have been accepted. */
    private final String expected;

    /** The reason of its superclass names what is expected, too, for messages of others. */
    FileRefusedException(Path file, String reason, String expected) {
        super(file.toString(), null, reason + ", expected=" + expected);
        this.reason = reason;
        this.expected = expected;
    }

    /**
     * Tells why the file was refused, for a caller that composes its own message.
     *
     * @return such as {@code it is a pipe}
     */
    public String reason() {
        return reason;
    }

    /**
     * Tells what would be accepted.
     *
     * @return such as {@code a regular file}
     */
    public String expected() {
        return expected;
    }

    @Override
    public String getMessage() {
        return Text.format("file refused: file=%s, reason=%s", getFile(), getReason());
    }
}
