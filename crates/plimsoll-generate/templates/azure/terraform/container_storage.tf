# Azure Container Storage, version 2. The name is the one that az gives it.
# costs: what its classes take
resource "azurerm_kubernetes_cluster_extension" "container_storage" {
  name              = "acstor"
  cluster_id        = azurerm_kubernetes_cluster.cluster.id
  extension_type    = "microsoft.azurecontainerstoragev2"
  release_namespace = "kube-system"
}
