package io.softdpu.core.device;

import io.softdpu.core.Side;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Host process that prints its devices, and again for each line of input, with the list that it
 * took first; the argument is the fabric folder.
 */
public final class ListingProcess {
    private ListingProcess() {}

    public static void main(String[] arguments) throws Exception {
        try (Machine host = Machine.builder(Side.HOST).fabricFolder(Path.of(arguments[0])).open()) {
            List<DeviceInfo> first = host.devices();
            System.out.println("devices " + first);
            BufferedReader questions =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (questions.readLine() != null) {
                System.out.println("now " + host.devices());
                System.out.println("kept " + first);
            }
        }
    }
}
