package io.softdpu.linux.text;

import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Words for the cause of a failure, for the message of another: names of classes say nothing to its
 * reader. Of a file that cannot be used the message names the path, so the words do not.
 */
public final class Reason {
    private Reason() {}

    /** Says why something failed, such as {@code it does not exist}. */
    public static String of(@Nullable Throwable cause) {
        return switch (cause) {
            case null -> "unknown";
            case UncheckedIOException e -> of(e.getCause());
            case ExecutionException e when e.getCause() != null -> of(e.getCause());
            case CompletionException e when e.getCause() != null -> of(e.getCause());
            case CharacterCodingException _ -> "it is not UTF-8";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            case NoSuchFileException _ -> "it does not exist";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "it exists already";
            case DirectoryNotEmptyException _ -> "the folder is not empty";
            case NotDirectoryException _ -> "it is not a folder";
            default -> messageOf(cause);
        };
    }

    /**
     * As {@link #of}, with the file that it is about: for messages that name no path, or another.
     */
    public static String naming(@Nullable Throwable cause) {
        return switch (cause) {
            case null -> of(null);
            case UncheckedIOException e -> naming(e.getCause());
            case FileSystemException e when e.getFile() != null -> of(e) + ", file=" + e.getFile();
            default -> of(cause);
        };
    }

    /** The message; without one the words in the name of the class. */
    private static String messageOf(Throwable cause) {
        @Nullable String message = cause.getMessage();
        @Nullable Throwable deeper = cause.getCause();
        if (deeper != null && deeper.toString().equals(message)) {
            return of(deeper); // as Throwable(Throwable) makes it
        }
        if (message != null && !message.isBlank()) {
            return message;
        }
        return cause.getClass()
                .getSimpleName()
                .replaceFirst("Exception$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }
}
