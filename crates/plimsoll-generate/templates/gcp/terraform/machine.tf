variable "image" {
  description = "The image, or its family"
  type        = string
  default     = "{{image}}"
}

variable "admin_user" {
  description = "Who logs in to the machine"
  type        = string
  default     = "plimsoll"
}

variable "ssh_public_key_file" {
  description = "The public half of the key to log in with"
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "ssh_from" {
  description = "Who may reach the machine by SSH, as 203.0.113.7/32; nobody when it is empty"
  type        = string
  default     = "{{ssh_from}}"
}

# Nothing reaches the machine from outside unless ssh_from says who may.
resource "google_compute_firewall" "ssh" {
  count         = var.ssh_from == "" ? 0 : 1
  name          = "${var.name}-ssh"
  network       = google_compute_network.all.id
  source_ranges = [var.ssh_from]
  target_tags   = [var.name]

  allow {
    protocol = "tcp"
    ports    = ["22"]
  }
}

# It has no service account: it needs none, because it calls nothing of Google Cloud.
# costs: the machine, its disk of the system, and a public address
resource "google_compute_instance" "machine" {
  name         = var.name
  machine_type = local.machine_type
  zone         = var.zone
  tags         = [var.name]

  boot_disk {
    initialize_params {
      image = var.image
      type  = local.boot_disk_type
    }
  }

  network_interface {
    subnetwork = google_compute_subnetwork.all.id

    access_config {
    }
  }

  metadata = {
    ssh-keys = "${var.admin_user}:${file(pathexpand(var.ssh_public_key_file))}"
  }

  lifecycle {
    # Disks are attached below.
    ignore_changes = [attached_disk]
  }
}

# costs: each disk
resource "google_compute_disk" "disk" {
  for_each               = local.disks
  name                   = "${var.name}-${each.key}"
  zone                   = var.zone
  type                   = each.value.type
  size                   = each.value.size_gib
  provisioned_iops       = try(each.value.iops, null)
  provisioned_throughput = try(each.value.mib_per_s, null)
}

# The name of the device is what prepare.sh finds the disk by.
resource "google_compute_attached_disk" "disk" {
  for_each    = local.disks
  disk        = google_compute_disk.disk[each.key].id
  instance    = google_compute_instance.machine.id
  device_name = each.key
}

output "address" {
  description = "Where the machine is"
  value       = google_compute_instance.machine.network_interface[0].access_config[0].nat_ip
}

output "admin_user" {
  description = "Who logs in to the machine"
  value       = var.admin_user
}
